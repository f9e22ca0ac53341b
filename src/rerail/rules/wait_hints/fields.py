"""Named fields that carry a wait: response headers, and the same names inside bodies, dumps and logs.

Owns the table of names, how they rank, and how they are found in a text (JSON, Python and JavaScript dumps, header
lines, `key=value`, XML, protobuf text, each also escaped inside another string). Leaves values to `values`.

Which one is read when there are several: a wait in milliseconds, then `Retry-After` and its kin, because they are made
for this failure; then the reset of a limit. Providers send resets with every response, so a limit that has something
left is no reason to wait and is passed over; among the limits that are spent (or, where none says so, among those that
do not tell) the longest wait wins, as a hint is a floor.
"""

from __future__ import annotations

from rerail import regex
from rerail.light_typing import TYPE_CHECKING, NamedTuple, Protocol
from rerail.rules.wait_hints.durations import read_number
from rerail.rules.wait_hints.instants import find_point, read_instant
from rerail.rules.wait_hints.model import Reading, WaitHint, compiled, hint
from rerail.rules.wait_hints.values import read_milliseconds, read_seconds, read_structured, read_written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class _Reader(Protocol):
    def __call__(self, text: str, pos: int, clock: float | None, /) -> Reading | None: ...


class _Row(NamedTuple):
    slug: str
    rank: int
    names: str
    read: _Reader


# Ranks, best first.
_IN_MS, _FOR_THIS, _RESET, _BARE_RESET = range(4)

_SECONDS = r"(?:s|secs?|seconds)"
_LIMIT = r"(?:.*(?:limit|quota|usage|codex|window|credit).*-)?"

#: Names as `_normal` gives them: lower case, hyphens, `rate-limit` in two words. The first row that fits reads.
_ROWS: tuple[_Row, ...] = (
    _Row("retry-after", _IN_MS, r"(?:x-)?(?:ms-)?retry-after-(?:in-)?(?:ms|millis|milliseconds)", read_milliseconds),
    _Row("retry-after", _IN_MS, r"x-amzn?-retry-after", read_milliseconds),
    _Row("retry-after", _IN_MS, r"ms-before-next|(?:retry-in|retry-delay|wait)-ms", read_milliseconds),
    _Row("retry-after", _FOR_THIS, rf"(?:x-|beta-)?retry-?after(?:-(?:in-)?{_SECONDS}|-date|-time|-at)?", read_seconds),
    _Row("retry-in", _FOR_THIS, rf"(?:x-)?retry-in(?:-{_SECONDS})?|wait-{_SECONDS}", read_seconds),
    _Row("retry-delay", _FOR_THIS, rf"retry-delay-{_SECONDS}", read_seconds),
    # A bare number in it is a client's own setting more often than an answer, and nobody knows its unit.
    _Row("retry-delay", _FOR_THIS, r"retry-delay", read_written),
    _Row("retry-at", _FOR_THIS, r"(?:x-)?retry-at|(?:blocked|banned|locked|limited)-until", read_instant),
    _Row("rate-limit", _RESET, r"(?:x-)?rate-limit", read_structured),
    _Row("reset-in", _RESET, rf"{_LIMIT}resets?-(?:in-|after-|delay-)?(?:ms|millis|milliseconds)", read_milliseconds),
    _Row("reset-in", _RESET, rf"{_LIMIT}resets?-(?:in|after|delay)(?:-{_SECONDS})?", read_seconds),
    _Row("reset-in", _RESET, r"(?:seconds|time)-(?:until|to)-reset", read_seconds),
    _Row("reset-at", _RESET, rf"{_LIMIT}resets?-(?:at|on|time|date|epoch|timestamp)(?:-[a-z]+)?", read_instant),
    _Row("vendor-reset", _RESET, r"(?=.*(?:rate-limit|quota)).*\bresets?\b.*", read_seconds),
    # A word for many things: it counts where the `remaining` beside it is 0.
    _Row("vendor-reset", _BARE_RESET, r"resets?", read_seconds),
)
_NAME_STEMS = ("retry", "reset", "rate-limit", "before-next", "wait", "until")

_DATE = r"\bdate\\{0,8}[\"']?\s{0,3}(?:[:=,]|=>)"

_QUOTE = r"\\{0,8}[\"']"
# A name, what separates it from its value, and what opens the value. Protobuf text and the objects printed from it
# have a message in between: retry_delay { seconds: 34 }.
_FIELD = (
    r"(?:(?P<tag><)|(?<![\w-]))(?P<name>[a-z][\w-]{2,59})"
    r"(?:(?(tag)>|(?!))"
    rf"|(?:{_QUOTE})?\s{{0,3}}[:=]?\s{{0,3}}[a-z]{{0,12}}[{{<(](?:\\n|\s|{_QUOTE}){{0,12}}(?P<message>seconds)(?:{_QUOTE})?\s{{0,2}}[:=]"
    rf"|{_QUOTE}\s{{0,3}},"
    rf"|(?:{_QUOTE})?\s{{0,3}}(?:=>|[:=]))"
    rf"\s{{0,3}}\[?b?(?:{_QUOTE})?"
)
# What a field that carries a wait cannot do without: one of these in its name, and what joins a name to its value.
_WAITING = (
    r"(?:retry|reset|rate[_-]?limit|before[_-]?next|wait|until)[\w-]{0,59}"
    rf"(?:>|(?:{_QUOTE})?\s{{0,6}}(?:[:=,]|[a-z]{{0,12}}[{{<(]))"
)
_REST = r"\s*(?:[;,].*)?$"
_RESET_WORDS = r"\bresets?(?:-(?:after|at|in|on|delay|time|date|epoch|timestamp|seconds|secs?|ms))*\b"
_CAMEL = regex.compiled(r"(?<=[a-z0-9])(?=[A-Z])")
_NAME_CHARS, _VALUE_CHARS = 80, 400


class _Field(NamedTuple):
    name: str  # as `_normal` gives it
    text: str
    start: int  # where the name starts in `text`
    pos: int  # where the value starts


class _Found(NamedTuple):
    rank: int
    spent: bool | None
    hint: WaitHint


def read_headers(headers: Mapping[str, str], clock: float | None) -> WaitHint | None:
    """Return the hint of the response headers; names match in any case, a value must be a wait as a whole."""
    fields: dict[str, _Field] = {}
    for name, value in headers.items():
        shown = f"{name[:_NAME_CHARS]}: "
        fields[_normal(name)] = _Field(_normal(name), shown + value[:_VALUE_CHARS].strip().strip("\"'"), 0, len(shown))
    return _choose(fields, clock, whole=True)


def read_fields(regions: Sequence[str], clock: float | None) -> WaitHint | None:
    """Return the hint of the named fields in a text; where a name occurs more than once, its last occurrence."""
    # PERF: looking at every name of a text takes long, and most texts that speak of a wait do it in prose.
    if not any(compiled(_WAITING).search(region) for region in regions):
        return None
    fields = {field.name: field for region in regions for field in _in_text(region)}
    return _choose(fields, clock, whole=False)


def read_date(headers: Mapping[str, str]) -> float | None:
    """Return the `Date` of a response in epoch seconds, or None."""
    return next((_http_date(value) for name, value in headers.items() if name.lower() == "date"), None)


def read_date_line(regions: Iterable[str]) -> float | None:
    """Return the last `Date` of the responses shown in a text, or None."""
    dated = [region for region in regions if compiled(_DATE).search(region)]
    lines = (field.text[field.pos :] for region in dated for field in _in_text(region) if field.name == "date")
    return next((date for line in reversed(list(lines)) if (date := _http_date(line)) is not None), None)


def _http_date(text: str) -> float | None:
    found = compiled(r"\s{0,3}([a-z]{3}, [^\n\"']{17,25}GMT)").match(text)
    # A full date needs nothing of the clock.
    point = find_point(found[1], 0, 0.0) if found else None
    return point.at if point else None


def _in_text(region: str) -> Iterator[_Field]:
    for found in compiled(_FIELD).finditer(region):
        name = f"{found['name']}-seconds" if found["message"] else found["name"]
        yield _Field(_normal(name), region, found.start(), found.end())


def _normal(name: str) -> str:
    hyphened = _CAMEL.sub("-", name[:_NAME_CHARS]).replace("_", "-").lower()
    return hyphened.replace("ratelimit", "rate-limit")


def _choose(fields: Mapping[str, _Field], clock: float | None, *, whole: bool) -> WaitHint | None:
    found = [one for field in fields.values() if (one := _read(field, fields, clock, whole=whole))]
    usable = [one for one in found if one.spent or (one.spent is None and one.rank < _BARE_RESET)]
    best = max(usable, key=lambda one: (-one.rank, one.spent is True, one.hint.wait_s), default=None)
    return best.hint if best else None


def _read(field: _Field, fields: Mapping[str, _Field], clock: float | None, *, whole: bool) -> _Found | None:
    if not any(stem in field.name for stem in _NAME_STEMS):
        return None
    row = next((row for row in _ROWS if compiled(row.names).fullmatch(field.name)), None)
    reading = row.read(field.text, field.pos, clock) if row else None
    if not row or not reading or (whole and not compiled(_REST).match(field.text, reading.end)):
        return None
    spent = _spent(field.name, fields) if row.rank >= _RESET else None
    return _Found(row.rank, spent, hint(reading, row.slug, field.text[field.start : reading.end]))


def _spent(name: str, fields: Mapping[str, _Field]) -> bool | None:
    """Say whether the limit that *name* resets is used up; None when nothing beside it tells."""
    words = compiled(_RESET_WORDS).search(name)
    if not words:
        return None
    head, tail = name[: words.start()], name[words.end() :]
    if (left := _number(fields.get(f"{head}remaining{tail}"))) is not None:
        return left <= 0
    if (used := _number(fields.get(f"{head}used-percent{tail}"))) is not None:
        return used >= 100
    status = fields.get(f"{head}status{tail}")
    if status and status.text.startswith(("allowed", "rejected"), status.pos):
        return status.text.startswith("rejected", status.pos)
    return None


def _number(field: _Field | None) -> float | None:
    number = read_number(field.text, field.pos) if field else None
    return number[0] if number else None
