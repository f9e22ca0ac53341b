"""Secrets where the web puts them: URLs, the Authorization header, cookies, and the flags of the commands that send these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.evidence.lazy import compiled
from rerail.evidence.secret_pairs import lower
from rerail.evidence.secret_values import is_placeholder, is_user_and_password, is_word, looks_random

if TYPE_CHECKING:
    import re


def hide_http(text: str) -> str:
    """Return *text* with the secrets of URLs, Authorization headers, cookies and ``--user`` flags replaced."""
    if "://" in text and "@" in text:
        text = compiled(_USERINFO).sub(_hide_userinfo, text)
    if "=" in text and ("?" in text or "&" in text):
        text = compiled(_QUERY).sub(_hide_query_value, text)
    lowered = lower(text)
    if "authorization" in lowered or "bearer" in lowered or "basic" in lowered:
        text = compiled(_CREDENTIALS).sub(_hide_credentials, text)
    if "cookie" in lowered:
        text = compiled(_COOKIE).sub(_hide_cookie, text)
    if "-u" in text or "sshpass" in text:
        text = compiled(_USER_FLAG).sub(r"\1[redacted:password]", text)
    return text


# The last "@" before a slash; or "user:password" whose password holds an unescaped slash, but not "host:port/@scope".
_USERINFO = (
    r"://(?P<info>[^\s/?#\"'`<>@\\]{1,512}(?:@[^\s/?#\"'`<>@\\:]{0,64}){0,2}"
    r"|[^\s/?#\"'`<>@\\:\[]{0,128}:(?!/|[0-9]{1,5}[/?#])[^\s\"'`<>@\\]{1,256})@"
)


def _hide_userinfo(match: re.Match[str]) -> str:
    user, _, password = match["info"].partition(":")
    hidden_user = "[redacted:token]" if len(user) >= 20 and looks_random(user) else user
    return f"://{hidden_user}:[redacted:password]@" if password else f"://{hidden_user}@"


_QUERY = r"(?P<before>[?&](?:amp;)?)(?P<name>[\w.%~\[\]-]{1,64})=(?P<value>[^&\s\"'`<>#\\]++)"
_PARAMETER = (
    r"(?:.*[-_.])?(?:.*token|.*secret|passw(?:or)?d|pwd|pass|sig|signature|api[-_]?key|access[-_]?key|auth|jwt|assertion"
    r"|ticket|sid|hmac|session(?:[-_]?id)?|credential)"
)
_DOUBTFUL_PARAMETER = r"(?:.*[-_])?key|code|k|hash|invite"


def _hide_query_value(match: re.Match[str]) -> str:
    name, value = lower(match["name"]), match["value"]
    if compiled(_PARAMETER).fullmatch(name):
        secret = not is_placeholder(value)
    else:
        secret = compiled(_DOUBTFUL_PARAMETER).fullmatch(name) is not None and looks_random(value)
    return f"{match['before']}{match['name']}=[redacted:query]" if secret else match[0]


_SCHEMES = r"bearer|basic|digest|token|apikey|api-key|negotiate|ntlm|aws4-hmac-sha256|hawk|sharedkey(?:lite)?|key|flyv1"
_CREDENTIALS = (
    r"(?i)(?P<header>(?<![a-z])authorization\\{0,4}[\"'`]?[ \t]{0,8}[:=]>?[ \t]{0,8}[bu]?\\{0,4}[\"'`]?"
    rf"(?:{_SCHEMES})[ \t]{{1,4}})(?P<all>[^\n\"'`\\]++)"
    r"|(?P<scheme>(?<![a-z])(?:bearer|basic)[ \t]{1,4})(?P<value>[A-Za-z0-9._~+/=-]{8,}+)(?![\"'])"
)


def _hide_credentials(match: re.Match[str]) -> str:
    if match["header"] is not None:
        first, *_ = match["all"].split(maxsplit=1) or [""]
        kept = not first or is_word(first) or is_placeholder(first)
        return match[0] if kept else f"{match['header']}[redacted:authorization]"
    value = match["value"]
    is_basic = match["scheme"].lower().startswith("basic")
    secret = is_user_and_password(value) if is_basic else len(value) >= 16 and looks_random(value)
    return f"{match['scheme']}[redacted:authorization]" if secret else match[0]


_COOKIE = (
    r"(?i)(?P<header>(?<![a-z])(?:set-)?cookie\\{0,4}[\"'`]?[ \t]{0,8}[:=][ \t]{0,8}[bu]?\\{0,4}[\"'`]?)"
    r"(?P<value>[^\s=;,\"'`\\]{1,256}=[^\n\"'`\\]*+)"  # "cookie: not found" is prose; a cookie is name=value
)


def _hide_cookie(match: re.Match[str]) -> str:
    return f"{match['header']}[redacted:cookie]"


_USER_FLAG = (
    r"((?<![^\s\"'])(?:(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s\"':\[]{1,128}:(?![0-9]{1,8}(?:\s|\Z))|sshpass -p ?))"
    r"(?!\[redacted:)[^\s\"']++"
)
