"""Secrets where the web puts them: URLs, the Authorization header, cookies, and the flags of the commands that send these."""

from __future__ import annotations

from rerail.evidence.lazy import compiled
from rerail.evidence.secret_pairs import lower
from rerail.evidence.secret_values import is_placeholder, is_user_and_password, is_word, looks_random
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    _Hide = Callable[[re.Match[str]], str] | str


def hide_http(text: str) -> str:
    """Return *text* with the secrets of URLs, Authorization headers, cookies and ``--user`` flags replaced."""
    if "://" in text and "@" in text:
        text = compiled(_USERINFO).sub(_hide_userinfo, text)
    if "=" in text and ("?" in text or "&" in text):
        text = compiled(_QUERY).sub(_hide_query_value, text)
    text = _on_lines_with(("authorization", "bearer", "basic"), _CREDENTIALS, _hide_credentials, text)
    text = _on_lines_with(("cookie",), _COOKIE, _hide_cookie, text)
    text = _on_lines_with(("', '", "', b'", '", "', '", b"'), _HEADER_TUPLE, _hide_header, text)
    return _on_lines_with(("-u", "sshpass", "mysql", "mariadb"), _USER_FLAG, r"\1[redacted:password]", text)


_BLOCK_CHARS = 400


def _on_lines_with(words: tuple[str, ...], pattern: str, hide: _Hide, text: str) -> str:
    """Return *text* with *pattern* replaced on the lines that have one of the lower-case *words*.

    PERF: a search for words is a hundred times faster than a pattern that ignores case.
    """
    lowered = lower(text)
    parts: list[str] = []
    at = 0
    places = {word: lowered.find(word) for word in words}
    while places := {word: place for word, place in places.items() if place >= 0}:
        first = min(places.values())
        start = text.rfind("\n", at, first) + 1 or at
        stop = text.find("\n", first + _BLOCK_CHARS)  # where one stands, more are near
        stop = len(text) if stop < 0 else stop
        parts += (text[at:start], compiled(pattern).sub(hide, text[start:stop]))
        at = stop
        places = {word: lowered.find(word, at) if place < at else place for word, place in places.items()}
    return "".join((*parts, text[at:]))


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
    rf"(?:{_SCHEMES})(?:[ \t]{{0,4}}\r?\n[ \t]{{1,8}}|[ \t]{{1,4}}))(?P<all>[^\n\"'`\\]++)"
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


# Headers as clients print them in a list: ('x-api-key', '...'), (b"authorization", b"Bearer ...").
_HEADER_TUPLE = (
    r"(?i)(?P<name>\([ \t]?b?[\"'](?:(?:proxy-)?authorization|(?:set-)?cookie|[a-z0-9-]{0,40}(?:api-?key|token|secret|auth))"
    r"[\"'], b?[\"'])"
    r"(?P<value>[^\s\"']{1,40} )?(?P<secret>[^\"'\n]{8,}+)"
)


def _hide_header(match: re.Match[str]) -> str:
    return f"{match['name']}{match['value'] or ''}[redacted:header]"


_USER_FLAG = (
    r"((?<![^\s\"'])(?:(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s\"':\[]{1,128}:(?![0-9]{1,8}(?:\s|\Z))|sshpass -p ?)"
    r"|(?<![\w-])(?:mysql|mariadb)[a-z-]{0,12} (?:[^\s;|&]{1,128} ){0,12}?-p(?=[^\s-]))"
    r"(?!\[redacted:)[^\s\"']++"
)
