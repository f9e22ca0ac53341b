"""What differs between two runs of one failure, and is replaced before the two are compared.

- replaced: times, dates, durations, attempt counts, pids, memory addresses, ephemeral ports, temporary paths, random ids, hashes;
- kept: error codes and other digits that mean something (``E501``, ``TS2304``, ``HTTP 429``, ``0x80070005``,
  ``expected 3 got 4``, ``5 failed``, percentages, sizes), and file names;
- places are replaced (``app.py:12:5`` is ``app.py<place>``): an edit elsewhere in the file moves them.
"""

from __future__ import annotations

from rerail.evidence.lazy import compiled
from rerail.light_typing import TYPE_CHECKING
from rerail.regex import ASCII

if TYPE_CHECKING:
    import re

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_YEAR = r"(?:19|20)\d\d"
_CLOCK = r"\d\d?:\d\d(?::\d\d)?(?:[.,]\d{1,9})?"
_ZONE = r"(?:Z\b|UTC\b|GMT\b|[+-]\d\d:?\d\d\b)"
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?"
_UNIT = r"(?:ms|[mun\u00b5\u03bc]s|s|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?)"
_EPHEMERAL = r"(?:3[3-9]\d{3}|[45]\d{4}|6[0-5]\d{3})"
_PLACE = r"(?::\d{1,9}(?::\d{1,9})?(?:-\d{1,9}(?::\d{1,9})?)?|\(\d{1,9}(?:,\d{1,9})?\))(?!\w)"
_PATH = r"[^\s:'\"`,;()<>\[\]]++"

# Where each may begin. PERF: most characters are inside a word, where one look then suffices instead of thirty.
_AT_DIGIT = r"\b(?=[0-9])"
_AT_LETTER = r"\b(?=[A-Za-z])"
_AT_MARK = r"(?=[/.:=@\[])"

_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"
_HASH = r"(?=[a-f]{0,40}\d)(?=\d{0,40}[a-f])[0-9a-f]{7,64}\b"
_MIXED = r"(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{20,}\b"

_LONG_TIME = (
    rf"(?:{_WEEKDAY}[ ])?{_MONTH}[ ]{{1,2}}\d\d?(?:,?[ ]{_YEAR})?(?:,?[ ](?:at[ ])?{_CLOCK})?"
    rf"(?:[ ](?:[AP]M|{_ZONE}))?(?:[ ]{_YEAR})?\b"
)
_ATTEMPT = (
    r"(?i:(?:attempts?|retry|retries|retrying|tries|try|budget)\b(?:[ ](?:left|remaining|number|count|budget))?)"
    r"[ #:=(\[]{1,12}\d{1,6}(?:[ ]?(?:/|of)[ ]?\d{1,6})?"
)
_TEMPORARY = r"(?<![\w.])(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm|run/user/\d{1,9})/"
_WINDOWS_TEMPORARY = r"[A-Za-z]:\\(?:[^\s\\:'\"]{1,64}\\){0,8}?Te?mp\\"
_PREFIXED_ID = r"[a-z]{2,12}[_-](?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{12,}\b"

# (where, kind, pattern): at one place the first that fits wins. All parts are bounded, so the time stays linear.
_ALTERNATIVES = (
    # 2026-11-30T20:07:11.123Z, 2026/11/30 20:07:11, 2026-11-30
    (_AT_DIGIT, "time", rf"{_YEAR}[-/]\d\d?[-/]\d\d?(?:[T ,_]{{1,2}}{_CLOCK})?(?:[ ]?{_ZONE})?"),
    # 30 Nov 2026 20:18:58 GMT; 30/Nov/2026:20:18:58 +0000
    (_AT_DIGIT, "time", rf"\d\d?[ /-]{_MONTH}[ /-]{_YEAR}(?:[ :]{_CLOCK})?(?:[ ](?:[AP]M|{_ZONE}))?"),
    # 20:18:58.123, 8:18 PM; but not the place in app.py:12:05:01
    (_AT_DIGIT, "time", r"(?<![:.)\]])\d\d?:\d\d(?::\d\d(?:[.,]\d{1,9})?(?:[ ][AaPp][Mm]\b)?|[ ]?[AaPp][Mm]\b)"),
    (_AT_DIGIT, "id", _UUID),
    # Eight digits may be an error code of Windows.
    (_AT_DIGIT, "address", r"0x[0-9a-fA-F]{9,16}\b|(?<=\bat[ ])0x[0-9a-fA-F]{4,16}\b"),
    # 2 retries, 3 more attempts
    (_AT_DIGIT, "count", r"\d{1,6}[ ](?i:(?:more[ ])?(?:attempts?|retries|tries))\b(?![ ]?[#:]?[ ]?\d)"),
    (_AT_DIGIT, "pid", r"\d{2,10}[ ](?=Killed|Segmentation fault|Terminated|Aborted|Bus error)"),
    # 127.0.0.1:49152: a port that nobody chose
    (_AT_DIGIT, "port", rf"(?<=[\w\]]:){_EPHEMERAL}(?!\w|[:.]\d)"),
    # 0.12s, 250 ms, 3 seconds, 1m23s, 2h5m
    (_AT_DIGIT, "duration", rf"(?<![.:])\d{{1,9}}(?:[.,]\d{{1,9}})?[ ]?{_UNIT}\b"),
    (_AT_DIGIT, "duration", r"(?<![.:])(?:\d{1,4}[dhm][ ]?){1,3}(?:\d{1,9}(?:\.\d{1,9})?m?s|\d{1,2}m)\b"),
    (_AT_DIGIT, "rate", r"\d{1,9}(?:\.\d{1,9})?[ ]?[kKMG]?i?[bB](?:/s|ps)\b"),
    (_AT_DIGIT, "mixed", _MIXED),
    (_AT_DIGIT, "id", rf"{_HASH}|\d{{10,}}\b"),
    # Mon, 30 Nov 2026 20:18:58 GMT
    (_AT_LETTER, "time", rf"{_WEEKDAY}[ ]\d\d?[ ]{_MONTH}[ ]{_YEAR}(?:[ ]{_CLOCK})?(?:[ ]{_ZONE})?"),
    # Mon Nov 30 20:18:58 2026; Nov 30, 2026, 8:18 PM; Nov 30 20:18:58
    (_AT_LETTER, "time", _LONG_TIME),
    # attempt 2/5, retry #3 of 5, retry budget: 2/3
    (_AT_LETTER, "count", _ATTEMPT),
    (_AT_LETTER, "count", r"(?i:(?:used|remaining|elapsed|eta)\b[:= ]{1,3})\d[\d,.]{0,15}"),
    (_AT_LETTER, "seed", r"(?i:seed[ :=]{1,3})\d{1,20}\b"),
    (_AT_LETTER, "pid", r"(?i:(?:[pt]id|ppid|process|thread|worker|goroutine)(?:[ ]?id)?[ #:=(\[]{1,3})\d{1,10}\b"),
    (_AT_LETTER, "pid", r"(?i:(?:thread|process|\w{0,24}worker)-)\d{1,6}\b"),
    (_AT_LETTER, "port", rf"(?i:port[ =:]{{1,3}}){_EPHEMERAL}(?!\w|\.\d)"),
    # line 12, columns 5-9
    (_AT_LETTER, "place", r"(?i:(?:lines?|ln|columns?|col)\b[ :]{0,2})\d{1,9}(?:-\d{1,9})?"),
    (_AT_LETTER, "id", r"(?i:(?:request|trace|correlation|session|run)[-_ ]?id\b[\"']?[ :=]{1,3}[\"']?)[\w-]{4,}"),
    (_AT_LETTER, "id", _UUID),
    (_AT_LETTER, "temporary", rf"{_WINDOWS_TEMPORARY}(?P<below>{_PATH})(?P<below_at>{_PLACE})?"),
    (_AT_LETTER, "mixed", rf"(?:[a-z]{{2,12}}[_-])?{_MIXED}|{_PREFIXED_ID}"),
    (_AT_LETTER, "id", _HASH),
    (_AT_MARK, "temporary", rf"{_TEMPORARY}(?P<under>{_PATH})(?P<under_at>{_PLACE})?"),
    # app.py:12:5, app.ts(12,5), Makefile:12; but not example.com:443
    (
        _AT_MARK,
        "place",
        rf"(?:(?<=file)|\.(?!(?:com|net|org|io|dev|ai|local|internal)[:(])(?P<extension>[A-Za-z]\w{{0,7}})){_PLACE}",
    ),
    (_AT_MARK, "place", r"@@ -\d[\d, +-]{1,40}@@"),
    (_AT_MARK, "pid", r"==\d{1,10}==|\[gw\d{1,3}\]|(?<=[\w)])\[\d{1,10}\](?=[: ])"),
)
_VOLATILE = "|".join(
    f"{where}(?:{'|'.join(f'(?P<{kind}{n}>{pattern})' for n, (at, kind, pattern) in enumerate(_ALTERNATIVES) if at is where)})"
    for where in (_AT_DIGIT, _AT_LETTER, _AT_MARK)
)
# The place before a line in a report or a listing: "12:5  error  ...", "12 | code".
_GUTTER = r"\A\d{1,7}(?::\d{1,7}(?=[ \t]{2})|(?=[ \t]?\|))"
_MAY_BE_VOLATILE = r"[0-9]|/tmp/|/var/|/dev/shm/|[Tt]e?mp\\"
_ID_DIGITS = 4

PLACE_MARK = "<place>"


def normalised(line: str) -> str:
    """Return *line* with what is volatile replaced by its kind: ``<time>``, ``<id>``, ``<place>``."""
    line = line.strip()
    if compiled(_MAY_BE_VOLATILE).search(line) is None:
        return line
    return compiled(_VOLATILE, ASCII).sub(_mark, compiled(_GUTTER).sub(PLACE_MARK, line))


def _mark(match: re.Match[str]) -> str:
    kind = (match.lastgroup or "").rstrip("0123456789")
    if kind == "temporary":
        place = PLACE_MARK if match["under_at"] or match["below_at"] else ""
        return _temporary(match["under"] or match["below"]) + place
    if kind == "mixed" and not _is_id(match[0]):
        # TestHTTP2ConnectionRetries is a name; 011CSHoEeqs5C35K2UUqR7Fy is an id.
        return match[0]
    if kind == "place" and match["extension"]:
        return f".{match['extension']}{PLACE_MARK}"
    return f"<{kind}>"


def _is_id(word: str) -> bool:
    return sum(character.isdigit() for character in word) >= _ID_DIGITS


def _temporary(path: str) -> str:
    """Return a temporary path by its file's name alone, unless that is random too."""
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    telling = "." in name.strip(".") and not name.startswith("tmp") and not _is_id(name)
    return f"<temporary>/{name}" if telling else "<temporary>"
