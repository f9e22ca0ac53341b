"""What loggers, builders and terminals put before a line; what is left is what the tool said."""

from __future__ import annotations

from rerail.rules.readers.lazy import lazy

_PREFIX_STARTS = frozenset("0123456789#[⎿│┃| \trs-{CEF")
_LOG_PREFIX = lazy(
    r"(?:\d{4}[\-/]\d\d[\-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+\-]\d\d:?\d\d)?\s+"  # a time stamp
    r"|\[\d{4}-\d\d-\d\d[T ][^\]]{5,30}\]\s*|\[\d\d/\d\d/\d\d \d\d:\d\d:\d\d\]\s+|\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\s+"
    r"|\| (?:ERROR|CRITICAL|FATAL) *\| (?:\S{1,120}:\d{1,6} - )?"  # a level and a place, as Loguru prints them
    r"|(?:ERROR|CRITICAL|FATAL) {1,4}[a-z_]\w{0,39}(?:\.[a-z_]\w{0,39}){1,6}: "  # a level and a logger
    r"|- [\w.]{1,80} - (?:ERROR|CRITICAL|FATAL) - |\{\w{1,60}\.py:\d{1,6}\} (?:ERROR|CRITICAL) - "
    r"|[EF]\d{4} \d\d:\d\d:\d\d\.\d{1,9} +\d{1,9} \S{1,80}:\d{1,6}\] "  # klog
    r"|#\d+ (?:\d+\.\d+ )?|\d{1,5}\.\d{1,3} (?=\S)"  # a step of a docker build
    r"|##\[(?:error|warning|command|group|debug)\]"  # a log command of GitHub
    r"|\s*[⎿│┃]\s+(?:> (?!\d+ [|│]))?"  # an agent's terminal interface; nom, which shows Nix's log in it
    r"|\| (?=\S)(?!.*\|\s*$)"  # the log of a task that BitBake shows; where a line ends as it begins, a table
    r"|\s{6,8}> (?!\s{0,3}\d+ [|│])(?=\S)"  # the log of a build that Nix shows
    r"|remote: (?=\S)"
    r"|\[?std(?:err|out)\]?[:|] ?"
    r"|\[(?:error|ERROR|fatal|FATAL|stderr|ERR)\]:?\s+)+"
)


def prefix_chars(line: str) -> int:
    """Return how many characters stand before what the tool said."""
    if line[:1] in _PREFIX_STARTS and (prefix := _LOG_PREFIX.match(line)):
        return prefix.end()
    return 0
