"""Secrets that are known by the name beside them: ``password=...``, ``"api_key": "..."``, ``--token ...``, ``<secret>...``.

The hard part is what must stay: error prose (``password: must be at least 8 characters``), placeholders, code in a traceback and
identifiers decide how a failure is named. So a name alone is not enough: see `rerail.evidence.secret_values`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.evidence.lazy import compiled
from rerail.evidence.secret_values import (
    LONGEST_PROSE_CHARS,
    is_secret,
    is_user_and_password,
    looks_random,
)

if TYPE_CHECKING:
    import re

_STEMS = ("pass", "pwd", "secret", "token", "key", "auth", "credential", "sig", "jwt")

# All lower case: they are searched in lowered text, which is faster than ignoring case.
_ALWAYS = (
    r"passw(?:or)?ds?|passphrases?|(?<=[_-])pass|(?<![a-z])pwd(?!=(?:/|~|[a-z]:))|secrets?|api[-_ ]?keys?|apitoken"
    r"|(?:access|secret|private|signing|encryption|account|shared ?access|subscription|master|license|functions?)[-_]?key"
    r"|(?:access|auth|refresh|session|security|bot|bearer|api|id|deploy|registry|vault|github|gitlab|npm|hub|slack)[-_]?token"
    r"|(?<=_)auth(?:token)?|credentials?|client[-_]key[-_]data"
)
_SOMETIMES = r"tokens?|(?<=[_-])keys?|(?<![a-z])auth(?:orization)?|(?<![a-z])sig(?:nature)?|jwt"
_SUFFIX = r"(?:[-_](?:value|base|prod|dev|test|live|raw|plain|[0-9]{1,2}))?"
_CLOSE = r"(?:\\{0,4}[\"'`]\]?)?"
_SEPARATOR = r"[ \t]{0,16}(?::=|=>|[:=](?![=]))[ \t]{0,16}|>(?![ \t\n<>=])|[ \t]{1,4}(?![-:=])"
_PAIR = (
    rf"(?:(?P<always>{_ALWAYS})|(?P<sometimes>{_SOMETIMES})){_SUFFIX}"
    rf"(?P<close>{_CLOSE})(?P<separator>{_SEPARATOR})"
)
_FLAG = rf"--?(?:[a-z0-9]{{1,24}}[-_.]){{0,4}}(?:{_ALWAYS}|{_SOMETIMES}|[a-z0-9]{{0,24}}token|pass|userpass|key)"
_KINDS = (("pass", "password"), ("pwd", "password"), ("api", "api-key"), ("token", "token"), ("key", "key"))

_QUOTE = r"[bBrRuU]?(\\{0,4}[\"'`])"
# Up to a space, quote or angle bracket; a comma, semicolon or ampersand ends it only where another name follows.
_BARE = r"(?:[^\s\"'`<>&;,\\]|\\(?![\"'nrt])|[&;,](?![\s\"'\\]|\Z|[\w.-]{1,64}[=:]))++"
_REST_OF_WORD = r"[^\s\"'`]++"
_NAME_CHARS = 64


def hide_pairs(text: str) -> str:
    """Return *text* with the secret values of assignments, JSON, YAML, XML and flags replaced."""
    lowered = lower(text)
    for stem in _STEMS:  # PERF: a generator costs more than the loop
        if stem in lowered:
            return _hide_named(text, lowered)
    return text


def _hide_named(text: str, lowered: str) -> str:
    pair = compiled(_PAIR)
    parts: list[str] = []
    at = 0
    match = pair.search(lowered)
    while match:
        start, end = _secret_span(text, match)
        if start < end:
            parts += (text[at:start], f"[redacted:{_kind(match)}]")
            at = end
        match = pair.search(lowered, max(end, match.end("close")))
    return "".join((*parts, text[at:]))


def is_secret_flag(argument: str) -> bool:
    """Return whether *argument* is a flag such as ``--api-key``, whose secret is the next argument."""
    return argument.startswith("-") and compiled(_FLAG).fullmatch(lower(argument)) is not None


def lower(text: str) -> str:
    """Return *text* in lower case, of the same length."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    # A few letters, such as U+0130, have a longer lower case.
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def _kind(pair: re.Match[str]) -> str:
    name = pair["always"] or pair["sometimes"]
    return next((kind for stem, kind in _KINDS if stem in name), "secret")


_NO_SECRET = (0, 0)


def _secret_span(text: str, pair: re.Match[str]) -> tuple[int, int]:
    """Return where the secret value of *pair* begins and ends."""
    separator = pair["separator"]
    name_start = _name_start(text, pair.start())
    name = text[name_start : pair.end("close")]
    is_flag = name.startswith("-")
    is_tag = separator == ">"
    if (separator.isspace() and (pair["close"] or not is_flag)) or (
        is_tag and text[max(name_start - 1, 0) : name_start] not in ("<", ":")
    ):
        return _NO_SECRET
    # TOKEN=... in an environment and --token=... hold secrets whatever they look like; token=... in a message may hold anything.
    is_env = separator == "=" and name.isupper()
    always = pair["always"] is not None or is_env or (is_flag and separator == "=")
    quote = compiled(_QUOTE).match(text, pair.end())
    if quote:
        return _quoted_span(text, quote, always=always, name=name)
    bare = compiled(_REST_OF_WORD if is_env else _BARE).match(text, pair.end())
    if bare is None:
        return _NO_SECRET
    start, end = bare.span()
    if end - start > LONGEST_PROSE_CHARS:
        return start, end
    value = bare[0] if is_env else bare[0].rstrip(")]}.:")
    end = start + len(value)
    if ":" in separator and not pair["close"] and _sentence_goes_on(text, end) and not looks_random(value):
        return _NO_SECRET
    return (start, end) if is_secret(value, always=always) else _NO_SECRET


def _quoted_span(text: str, quote: re.Match[str], *, always: bool, name: str) -> tuple[int, int]:
    start = quote.end()
    limit = start + LONGEST_PROSE_CHARS
    newline = text.find("\n", start, limit)
    if newline >= 0:
        limit = newline
    end = text.find(quote[1], start, limit)
    while end > start and len(quote[1]) == 1 and text[end - 1] == "\\":
        end = text.find(quote[1], end + 1, limit)
    if end < 0 and newline < 0 and len(text) > limit:
        # No end in sight. Prose is quoted in fewer characters.
        newline = text.find("\n", limit)
        return start, newline if newline >= 0 else len(text)
    if end < 0:
        # The closing quote was clipped.
        end = min(limit, len(text))
    value = text[start:end]
    secret = is_secret(value, always=always) or (name.lower().strip("_\"'") == "auth" and is_user_and_password(value))
    return (start, end) if secret else _NO_SECRET


def _name_start(text: str, at: int) -> int:
    """Return where the name begins of which a later part begins at *at*."""
    floor = max(0, at - _NAME_CHARS)
    while at > floor and (text[at - 1].isalnum() or text[at - 1] in "_-."):
        at -= 1
    return at


def _sentence_goes_on(text: str, end: int) -> bool:
    """Return whether another word follows on the line: then the value was the first word of a sentence."""
    return text.startswith(" ", end) and text[end + 1 : end + 2].isalpha()
