"""Secrets that are known by the name beside them: ``password=...``, ``"api_key": "..."``, ``--token ...``, ``<secret>...``.

The hard part is what must stay: error prose (``password: must be at least 8 characters``), placeholders, code in a traceback and
identifiers decide how a failure is named. So a name alone is not enough: see `rerail.evidence.secret_values`.
"""

from __future__ import annotations

from rerail.evidence.lazy import compiled
from rerail.evidence.secret_values import (
    LONGEST_PROSE_CHARS,
    is_secret,
    is_user_and_password,
    looks_random,
)
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_STEMS = ("pass", "pwd", "secret", "token", "key", "auth", "credential", "sig", "jwt")

# All lower case: they are searched in lowered text, which is faster than ignoring case.
_ALWAYS = (
    r"passw(?:or)?ds?|passphrases?|(?<=[_-])pass|(?<![a-z])pwd(?!=(?:/|~|[a-z]:)|: [a-z]+(?:'t)? )"
    r"|secrets?|api[-_ ]?keys?|apitoken"
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
_LAST_WORD = (
    r"(?:passw(?:or)?ds?|passphrases?|pass|pwd|secrets?|tokens?|keys?|auth(?:token|orization)?|credentials?|sig(?:nature)?|jwt)"
    r"(?=[-_\\\"'`: \t=>])"
)
# What may stand before the last word of a name, the longest first.
_FIRST_WORDS = (
    "shared access", "sharedaccess", "subscription", "encryption", "functions", "function", "security", "registry", "private",
    "signing", "account", "license", "refresh", "session", "access", "secret", "master", "bearer", "deploy", "github", "gitlab",
    "client", "vault", "slack", "auth", "api", "bot", "npm", "hub", "id",
)  # fmt: skip
_FIRST_WORD_CHARS = 14


def hide_pairs(text: str) -> str:
    """Return *text* with the secret values of assignments, JSON, YAML, XML and flags replaced."""
    lowered = lower(text)
    for stem in _STEMS:  # PERF: a generator costs more than the loop
        if stem in lowered:
            return _hide_named(text, lowered)
    return text


def _hide_named(text: str, lowered: str) -> str:
    parts: list[str] = []
    at = done = 0
    for match in _pairs(lowered):
        if match.start() < done:
            continue  # a part of the name or the secret before it
        start, end = _secret_span(text, match)
        if start < end:
            parts += (text[at:start], f"[redacted:{_kind(match)}]")
            at = end
        done = max(end, match.end("close"))
    return "".join((*parts, text[at:]))


def _pairs(lowered: str) -> Iterator[re.Match[str]]:
    """Yield the names with what separates them from their values, in order.

    PERF: a name is looked for where its last word stands; trying the pattern of all names at every character takes ten times as
    long.
    """
    pair = compiled(_PAIR)
    for stem in compiled(_LAST_WORD).finditer(lowered):
        start = stem.start()
        before = lowered[max(0, start - _FIRST_WORD_CHARS) : start]
        joint = before[-1:] in ("-", "_", " ")
        first = before[:-1] if joint else before
        match = None
        if first.endswith(_FIRST_WORDS):
            word = next(word for word in _FIRST_WORDS if first.endswith(word))
            match = pair.match(lowered, start - joint - len(word))
        if match := match or pair.match(lowered, start):
            yield match


def is_secret_flag(argument: str) -> bool:
    """Return whether *argument* is a flag such as ``--api-key``, whose secret is the next argument."""
    return argument.startswith("-") and compiled(_FLAG).fullmatch(lower(argument)) is not None


def lower(text: str) -> str:
    """Return *text* in lower case, of the same length."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    # One letter has a longer lower case.
    return "\u0130".join(part.lower() for part in text.split("\u0130"))


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
