"""Secrets out of everything that is stored, logged, shown or handed to a model; what names the failure stays.

A secret becomes ``[redacted:KIND]``. Redacting twice changes nothing, and the number of newlines stays, so line numbers stay
true. The time is linear in the text. Which secrets are known: by their own shape (`rerail.evidence.secret_shapes`), by their
place in HTTP (`rerail.evidence.secret_http`), by the name beside them (`rerail.evidence.secret_pairs`).
"""

from __future__ import annotations

from rerail.evidence.ansi import strip
from rerail.evidence.lazy import compiled
from rerail.evidence.secret_http import hide_http
from rerail.evidence.secret_pairs import hide_pairs, is_secret_flag
from rerail.evidence.secret_shapes import hide_shapes
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

# Every secret stands behind one of these or is a long run of token characters. PERF: one search instead of thirty, for the many
# short messages that have none.
_SUSPICIOUS = compiled(r"[=:@>]|-[-pu]|[A-Za-z0-9_.+/=-]{14}|[Bb][Aa][Ss][Ii][Cc] ")

_MAX_HEADER_CHARS = 512
_MAX_HEADERS = 200
_KEPT_HEADER = (
    r".*(?:retry|rate-?limit|quota|reset|remaining).*"
    r"|(?:.*-)?(?:request|correlation|trace|invocation)-?id"
    r"|content-(?:type|length|encoding)|date|age|server|via|allow|x-cache|proxy-status"
    r"|cf-(?:ray|mitigated|cache-status)|x-vercel-(?:id|error|mitigated)|x-envoy-.*|x-amzn-errortype|x-served-by"
    r"|x-(?:[a-z-]{1,40}-)?error(?:-.*)?|x-ms-.*-code|.*(?:deny|denied|blocked|reason|overloaded).*"
    r"|(?:www|proxy)-authenticate|x-oauth-scopes|x-accepted-.*|x-github-sso|grpc-(?:status|message)"
)
_CHALLENGES = ("www-authenticate", "proxy-authenticate")


def redact(text: str) -> str:
    """Return *text* with every known secret replaced by ``[redacted:KIND]``."""
    if _SUSPICIOUS.search(text) is None:
        return text
    return hide_pairs(hide_http(hide_shapes(text)))


def redact_command(argv: Sequence[str]) -> tuple[str, ...]:
    """Return *argv* redacted: each argument, and the one after a flag such as ``--password``."""
    redacted: list[str] = []
    previous = ""
    for argument in argv:
        if is_secret_flag(previous) and not argument.startswith(("-", "[redacted:")):
            redacted.append("[redacted:argument]")
        elif previous in ("-u", "--user", "--proxy-user") and ":" in argument:
            redacted.append(f"{argument.partition(':')[0]}:[redacted:password]")
        else:
            redacted.append(redact(argument))
        previous = argument
    return tuple(redacted)


def redact_headers(
    headers: Mapping[str, object] | Iterable[tuple[object, object]],
) -> tuple[tuple[str, str], ...]:
    """Return the headers that help to name a failure, with lower-case names, in the order they came.

    Only names on an allow-list are kept: waits, limits and resets, request ids, content, errors, scopes. Of an authentication
    challenge only the schemes are.
    """
    kept: list[tuple[str, str]] = []
    for raw_name, raw_value in _pairs(headers):
        name = _text(raw_name).strip().lower()
        if len(name) > 100 or not compiled(_KEPT_HEADER).fullmatch(name):
            continue
        value = strip(_text(raw_value)[:_MAX_HEADER_CHARS]).replace("\n", " ").strip()
        kept.append((name, _schemes(value) if name in _CHALLENGES else redact(value)))
        if len(kept) == _MAX_HEADERS:
            break
    return tuple(kept)


def _pairs(headers: Any) -> Iterator[tuple[object, object]]:
    """Yield name and value of a mapping or of pairs; a name with a list of values, once for each."""
    pairs = headers.items() if hasattr(headers, "items") else headers
    for name, value in pairs:
        if isinstance(value, (list, tuple)):
            yield from ((name, one) for one in value)
        else:
            yield name, value


def _text(value: object) -> str:
    if isinstance(value, (bytes, bytearray)):
        return value.decode("latin-1")
    return str(value)


def _schemes(challenge: str) -> str:
    """Return the schemes that a challenge offers: ``Bearer realm="x", Basic realm="y"`` is ``Bearer, Basic``."""
    return ", ".join(compiled(r"(?:\A|,[ \t]*)([A-Za-z0-9-]{1,40})(?=[ \t]+[\w-]+=|[ \t]*(?:,|\Z))").findall(challenge))
