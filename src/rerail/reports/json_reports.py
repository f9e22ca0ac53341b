"""Reads reports in JSON. `SHAPES` says by what each tool's is known and how its findings are read; the first that fits is taken.

Sources: SARIF 2.1.0; the JSON of ruff, ESLint, mypy, pyright, cargo, golangci-lint, Jest and Vitest, RuboCop, PHPStan, bandit,
semgrep, gitleaks, pip-audit and npm audit: their documentation, and observed where they could be run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from rerail.plain_json import parse
from rerail.reports.model import Check, ReportError, report_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rerail.reports.model import Report


class _Shape(NamedTuple):
    fits: Callable[[Any], bool]
    checks: Callable[[Any], Iterator[Check]]
    total: Callable[[Any], int | None] = lambda _: None
    skipped: Callable[[Any], int] = lambda _: 0


def read_json(text: str, name: str = "") -> Report:
    """Return what a report says.

    Args:
        text: The whole of it: one value, or one a line.
        name: A member of `SHAPES`; ``""`` finds out.

    Raises:
        ReportError: It is no JSON, or none that is known.
    """
    try:
        value = _value(text)
        if value in ([], {}):
            return report_of(name or "json", ())  # most tools write so where they found nothing
        shapes = {name: SHAPES[name]} if name else SHAPES
        for known, shape in shapes.items():
            if shape.fits(value):
                return report_of(known, shape.checks(value), total=shape.total(value), skipped=shape.skipped(value))
    except RecursionError:
        raise ReportError("is nested too deeply") from None
    except ValueError as error:
        raise ReportError(f"is not JSON: {error}") from None
    raise ReportError(f"is JSON, and not what {name} writes" if name else "is JSON of no tool that is known")


def _value(text: str) -> Any:
    """Return one JSON value, or the list of those that stand one a line; lines of other output between them are passed over."""
    try:
        return parse(text)
    except ValueError:
        rows = [line for line in text.splitlines() if line.lstrip().startswith("{")]
        if not rows:
            raise
        return Lines(parse(line) for line in rows)


class Lines(list[Any]):
    """Values that stood one a line."""


# What a stranger wrote may be of any type anywhere: each of these answers with something empty then.


def _of(value: Any, *path: str | int) -> Any:
    for key in path:
        if isinstance(key, str):
            value = value.get(key) if isinstance(value, dict) else None
        else:
            value = value[key] if isinstance(value, list) and len(value) > key else None
    return value


def _rows(value: Any, *path: str | int) -> list[Any]:
    found = _of(value, *path)
    return found if isinstance(found, list) else []


def _items(value: Any, *path: str | int) -> Iterable[tuple[str, Any]]:
    found = _of(value, *path)
    return found.items() if isinstance(found, dict) else ()


def _has(value: Any, *keys: str) -> bool:
    return isinstance(value, dict) and all(key in value for key in keys)


def _listed(*keys: str) -> Callable[[Any], bool]:
    """Tell a list of objects that have these keys."""
    return lambda value: isinstance(value, list) and bool(value) and _has(value[0], *keys)


def _any_row(*keys: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, Lines) and any(_has(row, *keys) for row in value)


def _keyed(*keys: str) -> Callable[[Any], bool]:
    return lambda value: _has(value, *keys)


def _path(uri: Any) -> str:
    """Return a SARIF location as a path: what stands there may be a file URI."""
    text = uri if isinstance(uri, str) else ""
    return unquote(urlsplit(text).path) if text.startswith("file:") else unquote(text)


def _sarif(value: Any) -> Iterator[Check]:
    for run in _rows(value, "runs"):
        rules = _rows(run, "tool", "driver", "rules")
        levels = {str(_of(rule, "id")): _of(rule, "defaultConfiguration", "level") for rule in rules}
        for result in _rows(run, "results"):
            if _rows(result, "suppressions") or _of(result, "kind") in ("pass", "notApplicable", "informational"):
                continue
            rule = _of(result, "ruleId") or _of(result, "rule", "id")
            at = _of(result, "locations", 0, "physicalLocation")
            level = _of(result, "level") or levels.get(str(rule)) or "warning"
            yield Check(
                rule or "",
                _of(result, "message", "text") or _of(result, "message", "id"),
                _path(_of(at, "artifactLocation", "uri")),
                _of(at, "region", "startLine"),
                _of(at, "region", "startColumn"),
                # A scanner's warning is a finding too: whether it fails the scan is what its exit status says.
                True if level == "error" else None if level == "warning" else False,
            )


def _ruff(value: Any) -> Iterator[Check]:
    for row in value:
        at = _of(row, "location")
        yield Check(_of(row, "code"), _of(row, "message"), _of(row, "filename"), _of(at, "row"), _of(at, "column"))


def _eslint(value: Any) -> Iterator[Check]:
    for file in value:
        for row in _rows(file, "messages"):
            yield Check(
                _of(row, "ruleId"),
                _of(row, "message"),
                _of(file, "filePath"),
                _of(row, "line"),
                _of(row, "column"),
                _of(row, "severity") == 2 or _of(row, "fatal") is True,
            )


def _mypy(value: Any) -> Iterator[Check]:
    for row in value if isinstance(value, list) else [value]:
        column = _of(row, "column")
        yield Check(
            _of(row, "code"),
            _of(row, "message"),
            _of(row, "file"),
            _of(row, "line"),
            column + 1 if isinstance(column, int) else None,
            _of(row, "severity") == "error",
        )


def _pyright(value: Any) -> Iterator[Check]:
    for row in _rows(value, "generalDiagnostics"):
        at = _of(row, "range", "start")
        line, column = _of(at, "line"), _of(at, "character")
        yield Check(
            _of(row, "rule") or "",
            _of(row, "message"),
            _of(row, "file") or _of(row, "uri", "_filePath"),
            line + 1 if isinstance(line, int) else None,  # it counts from 0
            column + 1 if isinstance(column, int) else None,
            _of(row, "severity") == "error",
        )


def _cargo(value: Any) -> Iterator[Check]:
    for row in value:
        said = _of(row, "message")
        if _of(row, "reason") != "compiler-message" or not isinstance(said, dict):
            continue
        spans = _rows(said, "spans")
        at = next((span for span in spans if _of(span, "is_primary")), None)
        yield Check(
            _of(said, "code", "code"),
            _of(said, "message"),
            _of(at, "file_name"),
            _of(at, "line_start"),
            _of(at, "column_start"),
            str(_of(said, "level")).startswith("error") and not str(_of(said, "message")).startswith("aborting due to"),
        )


def _golangci(value: Any) -> Iterator[Check]:
    for row in _rows(value, "Issues"):
        at = _of(row, "Pos")
        yield Check(_of(row, "FromLinter"), _of(row, "Text"), _of(at, "Filename"), _of(at, "Line"), _of(at, "Column"))


def _go_test(value: Any) -> Iterator[Check]:
    said: dict[tuple[str, str], list[str]] = {}
    for row in value:
        package, test = str(_of(row, "Package") or ""), _of(row, "Test")
        if not isinstance(test, str):
            continue
        lines = said.setdefault((package, test), [])
        if _of(row, "Action") == "output" and len(lines) < 200:
            lines.append(str(_of(row, "Output") or ""))
        elif _of(row, "Action") == "fail":
            yield _go_check(test, lines)


def _go_check(test: str, lines: list[str]) -> Check:
    for line in lines:
        place, _, message = line.strip().partition(": ")
        file, _, number = place.partition(":")
        if file.endswith(".go") and number.isdecimal():
            return Check(test, message, file, number, is_error=True)
    told = [line for line in lines if not line.lstrip().startswith(("===", "---"))]
    return Check(test, "".join(told), is_error=True)


def _jest(value: Any) -> Iterator[Check]:
    for file in _rows(value, "testResults"):
        tests = _rows(file, "assertionResults")
        for row in tests:
            if _of(row, "status") == "failed":
                yield Check(
                    _of(row, "fullName") or _of(row, "title"),
                    _of(row, "failureMessages", 0),
                    _of(file, "name"),
                    _of(row, "location", "line"),
                    is_error=True,
                )
        if _of(file, "status") == "failed" and not any(_of(row, "status") == "failed" for row in tests):
            yield Check("the file", _of(file, "message"), _of(file, "name"), is_error=True)


def _rubocop(value: Any) -> Iterator[Check]:
    for file in _rows(value, "files"):
        for row in _rows(file, "offenses"):
            at = _of(row, "location")
            line = _of(at, "start_line") or _of(at, "line")
            column = _of(at, "start_column") or _of(at, "column")
            yield Check(_of(row, "cop_name"), _of(row, "message"), _of(file, "path"), line, column)


def _phpstan(value: Any) -> Iterator[Check]:
    for path, file in _items(value, "files"):
        for row in _rows(file, "messages"):
            yield Check(_of(row, "identifier"), _of(row, "message"), path, _of(row, "line"), is_error=True)
    for said in _rows(value, "errors"):
        yield Check("", said, is_error=True)


def _bandit(value: Any) -> Iterator[Check]:
    for row in _rows(value, "results"):
        yield Check(_of(row, "test_id"), _of(row, "issue_text"), _of(row, "filename"), _of(row, "line_number"))


def _semgrep(value: Any) -> Iterator[Check]:
    for row in _rows(value, "results"):
        at = _of(row, "start")
        yield Check(
            _of(row, "check_id"), _of(row, "extra", "message"), _of(row, "path"), _of(at, "line"), _of(at, "col")
        )


def _gitleaks(value: Any) -> Iterator[Check]:
    for row in value:
        # Its Match and Secret are the secret itself.
        yield Check(_of(row, "RuleID"), _of(row, "Description"), _of(row, "File"), _of(row, "StartLine"))


def _pip_audit(value: Any) -> Iterator[Check]:
    for package in _rows(value, "dependencies"):
        for row in _rows(package, "vulns"):
            named = f"{_of(package, 'name')} {_of(package, 'version')}"
            fixed = ", ".join(str(each) for each in _rows(row, "fix_versions"))
            yield Check(named, f"{_of(row, 'id')}{f' (fixed in {fixed})' if fixed else ''}")


def _npm_audit(value: Any) -> Iterator[Check]:
    for name, row in _items(value, "vulnerabilities"):
        titles = [_of(via, "title") for via in _rows(row, "via") if isinstance(via, dict)]
        if titles:  # the others only depend on one of these
            yield Check(f"{name} {_of(row, 'range')}", f"{_of(row, 'severity')}, {titles[0]}")


def _count_of(key: str) -> Callable[[Any], int | None]:
    def count(value: Any) -> int | None:
        found = _of(value, key)
        return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None

    return count


def _go_tests(value: Any) -> int:
    return sum(isinstance(_of(row, "Test"), str) and _of(row, "Action") in ("pass", "fail", "skip") for row in value)


def _is_semgrep(value: Any) -> bool:
    return _has(value, "results", "errors") and (_has(value, "paths") or _has(_of(value, "results", 0), "check_id"))


SHAPES: dict[str, _Shape] = {
    "sarif": _Shape(_keyed("runs"), _sarif),
    "ruff": _Shape(_listed("filename", "location", "code"), _ruff),
    "eslint": _Shape(_listed("filePath", "messages"), _eslint),
    "pyright": _Shape(_keyed("generalDiagnostics"), _pyright),
    "mypy": _Shape(
        lambda value: _any_row("file", "line", "severity")(value) or _has(value, "file", "line", "severity", "hint"),
        _mypy,
    ),
    "cargo": _Shape(_any_row("reason"), _cargo),
    "go-test": _Shape(_any_row("Action", "Package"), _go_test, total=_go_tests),
    "golangci": _Shape(_keyed("Issues", "Report"), _golangci),
    "jest": _Shape(
        _keyed("testResults", "numTotalTests"),
        _jest,
        total=_count_of("numTotalTests"),
        skipped=lambda value: _count_of("numPendingTests")(value) or 0,
    ),
    "rubocop": _Shape(_keyed("files", "summary", "metadata"), _rubocop),
    "phpstan": _Shape(_keyed("totals", "files", "errors"), _phpstan),
    "bandit": _Shape(_keyed("results", "metrics", "generated_at"), _bandit),
    "semgrep": _Shape(_is_semgrep, _semgrep),
    "gitleaks": _Shape(_listed("RuleID", "File", "StartLine"), _gitleaks),
    "pip-audit": _Shape(_keyed("dependencies", "fixes"), _pip_audit),
    "npm-audit": _Shape(_keyed("auditReportVersion", "vulnerabilities"), _npm_audit),
}
"""Every tool whose JSON is known."""
