"""From evidence to what rules may see of it: which reader looks at which text, and what their marks add up to.

`READERS` is the one table of readers. A reader module has one function, ``read(drafts, scene)``; it is imported only when
its tool runs or its words occur, so that a hook does not pay for readers it does not need.
"""

from __future__ import annotations

from rerail.evidence.model import StreamName
from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.rules.readers import command as commands
from rerail.rules.readers import generic, unwrap
from rerail.rules.readers.code_words import worded
from rerail.rules.readers.lazy import lazy
from rerail.rules.readers.model import Draft, Fact, Line, Scene, View
from rerail.rules.readers.prefixes import prefix_chars
from rerail.rules.readers.printed import PRINTERS
from rerail.rules.readers.programs import AROUND, CHECKERS, INSTALLERS, STACKERS
from rerail.rules.readers.traceback import names_a_type

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

    from rerail.evidence.model import Evidence, Stream


class Reader(NamedTuple):
    """A tool whose output is known, and what wakes the module that knows it."""

    module: str
    """Below this package."""
    tools: frozenset[str]
    """Programs whose every output it reads."""
    marks: tuple[str, ...]
    """Lower-case texts by which its output is recognised inside any log."""
    shape: re.Pattern[str] | None = None
    """What it is recognised by as well; searched in a whole log, so it must begin with a fixed character."""

    word: str = ""
    """What its output always holds: where it is missing, nothing else is looked for."""

    def wakes(self, tools: frozenset[str], whole: str) -> bool:
        """Tell whether one of the *tools* ran that it reads, or the *whole* text, in lower case, looks like their output."""
        if self.word not in whole:
            return False
        if not tools.isdisjoint(self.tools):
            return True
        for mark in self.marks:  # PERF: a generator costs more than the loop
            if mark in whole:
                return True
        return self.shape is not None and self.shape.search(whole) is not None


LINTERS = frozenset({
    "ruff", "flake8", "pylint", "eslint", "biome", "markdownlint", "markdownlint-cli2", "golangci-lint", "rubocop",
    "standardrb", "yamllint", "actionlint", "ktlint", "detekt", "swiftlint", "stylelint", "hadolint", "shellcheck",
    "oxlint", "xo", "standard", "vale", "revive", "staticcheck", "pycodestyle", "pydocstyle", "pyflakes",
    "checkstyle", "tflint", "ansible-lint", "lint-staged", "pre-commit", "lefthook", "cpplint", "haml-lint",
})  # fmt: skip
"""Programs whose findings have a shape of their own; see `rerail.rules.readers.lint`."""

_SOURCES = (
    r"py|js|jsx|ts|tsx|mjs|cjs|vue|svelte|astro|go|rs|c|h|cc|cpp|cxx|hpp|m|cs|fs|vb|java|kt|kts|scala|sc|groovy|clj|"
    r"cljs|rb|php|pl|pm|lua|r|jl|ex|exs|erl|hs|ml|mli|swift|dart|zig|nim|d|v|sv|vhd|f90|sol|sql|sh|ps1|tf|hcl|rego|"
    r"proto|graphql|conf|cnf|l|y|ll|yy|asm|s|dts|dtsi|scm|lisp|pp|properties|gradle|j2|tmpl|tpl|feature|robot|bats|cmake|mk|bazel|"
    r"service|desktop|spec|inc|def|ac|m4|jsonnet|libsonnet|cue|dhall|nut|smt2|vhdl|svh|for|f|f95|ada|pro|qml|glsl|wgsl|hlsl|metal|fbs|thrift|capnp|avdl|idl|mzn|dfy|lean|agda|idr|p4|sby|"
    r"yml|yaml|json|toml|xml|md|rst|adoc|tex|html|css|scss|res|elm|purs|gleam|cr|nix|bzl|el|rkt|cu|move|hx|pas|cob|cbl|bicep|adb|ads|vy|cairo|hbs|erb|prisma|ini|cfg"
)
PLACE = lazy(rf"\.(?:{_SOURCES})[:(]")
"""A place in a file of source, where a finding may stand; in lower case."""

READERS: tuple[Reader, ...] = (
    # In this order: the first reader to mark a line wins. Test runners quote other tools, so they come first.
    Reader("buildkit", frozenset(), ("------\n > [",)),
    Reader(
        "pytest",
        frozenset({"pytest", "py.test"}),
        ("test session starts", "= failures =", "= errors =", "short test summary info", ".py::"),
    ),
    Reader("unittest", frozenset(), ("\nran ", "***test failed***")),
    Reader(
        "js_tests",
        frozenset({"jest", "vitest", "mocha", "ava", "jasmine", "bun", "deno", "playwright"}),
        (
            "test suites:",
            "\ntests:  ",
            " failed)",
            "test files ",
            " failing\n",
            "# fail ",
            "\u2139 fail ",
            "\n(fail) ",
            "ran all test suites",
            "failed | ",
            " specs, ",
            " spec, ",
            " failed\n",
            " tests failed",
            " test failed",
        ),
        word="fail",
    ),
    Reader(
        "test_reports",
        frozenset(),
        (
            "test result: failed",
            "--- fail: ",
            "\nfail\t",
            " examples, ",
            " example, ",
            " runs, ",
            "assertions: ",
            "tests run:",
            " tests completed, ",
            "failed!",
            "tests passed, ",
            "not ok ",
            "result: fail",
            "# fail",
            " tests, ",
            " test, ",
            "[  failed  ]",
            " passed, ",
            "| fail |",
            "suite result: failed",
            "looks like you failed",
        ),
    ),
    Reader(
        "githooks",
        frozenset({"git"}),
        ("husky", "- hook id: ", "lefthook", "pre-commit hook", "commit-msg hook", "pre-push hook"),
    ),
    Reader(
        "git",
        frozenset({"git"}),
        ("head is now at ", "could not apply ", "could not revert ", "patch failed at ", "applying: ", "[new branch]"),
    ),
    Reader("printed", PRINTERS | {"json.tool", "pydoc", "curl"}, ()),
    Reader(
        "compilers",
        frozenset({"gcc", "g++", "clang", "cc", "tsc", "go", "cargo", "rustc", "rustfmt", "javac", "cmake"}),
        ("error: ", " error ts", ".go:", "cmake warning", "error[", "diff in "),
    ),
    Reader("gradle", frozenset(), ("* what went wrong",)),
    Reader(
        "lint",
        LINTERS,
        (
            "\nfound ",
            " problem",
            ":1: ",
            " --> ",
            "offense",
            "issues",
            " line ",
            " md0",
            '"ruleid"',
            "sarif",
            "code style issues",
        ),
    ),
    Reader(
        "packages",
        frozenset(),
        (
            "npm err",
            "no matching distribution",
            "could not find a version",
            "could not install packages",
            "bundler as root",
            ".git can't be found",
            "unable to select packages",
        ),
    ),
    Reader(
        "traceback", frozenset(), ("traceback (most recent call last)", "\n    at ", "\n\tat ", "\nnpm error     at ")
    ),
    Reader("powershell", frozenset(), ("\nline |\n",)),
    Reader("jsonschema", frozenset(), ("failed validating '", 'failed validating "')),
    Reader(  # shapes of tools that have no reader
        "checks",
        frozenset(),
        ("fail", "unexpected", "errored", "-->", "┌─", "╭─", ",-[", "  error", " at line ", " (column "),
        PLACE,
    ),
    Reader("purpose", CHECKERS | INSTALLERS | STACKERS | AROUND, ()),
)

_SHOWN = lazy(
    r"(?m)^(?:.{0,40}\brun |[+$>] |.{0,12}commands\[\d+\]> |.{0,8}\bbash\(|.{0,60}\bcommand '[\[\"']{0,3})(?:\S{0,60}/)?"
    r"([a-z][\w.\-]*+.{0,200})"
)
"""A command that a log shows, in lower case: Actions, BuildKit, a traced shell, tox and agents before it runs, Python after."""
MOST_FACTS = 200
"""Facts of a failure that rules are asked about."""
MAX_LINES = 2_000
"""Lines of a stream that are read; of a longer one, the first quarter of that and the last three."""


def view(evidence: Evidence) -> View:
    """Read a failure: every line that rules may see, with its weight, and every fact it states."""
    tools = frozenset({*commands.programs(evidence.command), evidence.tool.lower()} - {""})
    scene = Scene(tools, " ".join(evidence.command), evidence)
    drafts = [Draft(stream.name.value, _numbered(stream)) for stream in evidence.streams]
    succeeded = evidence.exit_code == 0 and not _field_failure(evidence)
    if succeeded and not _structured_failures(drafts):
        return View((), (), tools, scene.command, evidence.headers, succeeded=True)
    whole = "\n".join(["", *(draft.low for draft in drafts)])
    if evidence.stream(StreamName.REPORT) is not None:
        from rerail.rules.readers import reports  # a hook never has one

        reports.read(drafts, scene)
    for reader in READERS:
        if reader.wakes(tools, whole):
            # What import_module does, which takes a hook 0.5 ms to import.
            __import__(f"rerail.rules.readers.{reader.module}", fromlist=("read",)).read(drafts, scene)
    generic.read(drafts, scene)
    if succeeded:
        drafts = [draft for draft in _structured_failures(drafts) if any(draft.weights)]
        if not drafts:
            return View((), (), tools, scene.command, evidence.headers, succeeded=True)
    lines: list[Line] = []
    facts = list(_field_facts(evidence))
    for draft in drafts:
        _collect(draft, lines, facts)
        if _is_one_sentence(draft, evidence) and lines:
            facts += _said(lines[-1], len(lines) - 1)
    headers = evidence.headers or _printed_headers(drafts)
    command = scene.command
    if "git" not in tools and (shown := _git_shown_last(whole)):
        tools, command = tools | {"git"}, f"{command} {shown}".lstrip()
    facts = _strongest(facts)
    facts = _strongest([*facts, *(part for fact in facts for part in worded(fact))])
    return View(tuple(lines), tuple(facts), tools, command, headers, succeeded=False)


def _git_shown_last(whole: str) -> str:
    """Return the command of git that a log shows as the last one run, for a wrapper's command does not name it; else nothing."""
    if "git " not in whole and "'git'" not in whole:
        return ""
    shown = [found[1] for found in _SHOWN.finditer(whole)]
    last = shown[-1].replace("', '", " ") if shown else ""
    return last if last.startswith("git ") else ""


def _is_one_sentence(draft: Draft, evidence: Evidence) -> bool:
    """Tell whether a stream is one line that somebody said of a failure, or an exception did, and no program printed."""
    return len(draft) == 1 and (draft.name == "message" or bool(evidence.exceptions))


def _said(line: Line, place: int) -> Iterator[Fact]:
    """Yield what a sentence tells of a failure."""
    from rerail.rules.readers.terse import told  # most failures are no sentence

    if status := unwrap.lone_status(line.text):
        yield Fact("status", status, line, place=place)
    if code := told(line.text):
        yield Fact("code", code, line, place=place)


def _numbered(stream: Stream) -> list[tuple[int, str]]:
    lines = list(stream.lines())
    if len(lines) <= MAX_LINES:
        return lines
    return lines[: MAX_LINES // 4] + lines[-MAX_LINES * 3 // 4 :]


def _collect(draft: Draft, lines: list[Line], facts: list[Fact]) -> None:
    """Turn a draft's marks into lines and facts; messages that a line wraps become lines of their own."""
    placed: dict[int, int] = {}
    seen: dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]] = {}  # logs say the same thing over and over
    for index, raw in enumerate(draft.lines):
        weight = draft.weights[index]
        if not weight:
            continue
        text = draft.seen.get(index) or raw[prefix_chars(raw) :]
        line = Line(draft.name, draft.numbers[index], text, draft.raws[index], weight, draft.depths[index])
        placed[index] = len(lines)
        if text not in seen:
            seen[text] = (tuple(_stated(text)), _wrapped(text))
        stated, wrapped = seen[text]
        facts += [Fact(kind, value, line, depth=line.depth, place=len(lines)) for kind, value in stated]
        lines.append(line)
        lines += [line._replace(text=part) for part in wrapped]
    for kind, value, index in draft.facts:
        if index in placed:
            line = lines[placed[index]]
            facts.append(Fact(kind, value, line, depth=line.depth, place=placed[index]))
    lines += [lines[placed[index]]._replace(text=message) for message, index in draft.messages if index in placed]


def _strongest(facts: Sequence[Fact]) -> list[Fact]:
    """Return each fact once, by its strongest statement, the first of equals; of very many, those that may decide most."""
    best: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        known = best.setdefault((fact.kind, fact.value), fact)
        if (fact.weight, fact.depth) > (known.weight, known.depth):
            best[fact.kind, fact.value] = fact
    if len(best) <= MOST_FACTS:
        return list(best.values())
    return sorted(best.values(), key=lambda fact: -fact.weight)[:MOST_FACTS]


def _wrapped(text: str) -> tuple[str, ...]:
    """Return the lines of the messages inside a line, each once."""
    parts = dict.fromkeys(part for message in unwrap.messages(text) for part in message.split("\n") if part.strip())
    parts.pop(text, None)
    return tuple(parts)


def _stated(text: str) -> Iterator[tuple[str, str]]:
    yield from unwrap.facts(text)
    status = unwrap.response_status(text)
    if status is not None and status >= 400:
        yield "status", str(status)
    if name := names_a_type(text):
        yield "exception", name


def _field_facts(evidence: Evidence) -> Iterator[Fact]:
    for depth, exception in enumerate(evidence.exceptions):
        for name in exception.types:
            yield Fact("exception", name, None, "exception_type", depth)
        for code in exception.codes:
            yield Fact("code", code, None, "code", depth)
        if exception.errno:
            yield Fact("errno", exception.errno, None, "errno", depth)
        if exception.status is not None and exception.status >= 400:
            yield Fact("status", str(exception.status), None, "http_status", depth)
    for code in (*evidence.codes, *_header_codes(evidence.headers)):
        yield Fact("code", code, None, "code")
    if evidence.http_status is not None and evidence.http_status >= 400:
        yield Fact("status", str(evidence.http_status), None, "http_status")
    if evidence.exit_code is not None:
        yield Fact("exit_code", str(evidence.exit_code), None, "exit_code")
    if evidence.signal:
        yield Fact("signal", evidence.signal, None, "signal")


def _header_codes(headers: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the error type that AWS services put in a header: ``ValidationException:http://internal...``."""
    for name, value in headers:
        if name == "x-amzn-errortype":
            yield value.partition(":")[0]


def _printed_headers(drafts: Sequence[Draft]) -> tuple[tuple[str, str], ...]:
    """Return the headers of a response that was printed with its head; see `structured.response_head`."""
    for draft in drafts:
        if draft.low.lstrip()[:5] == "http/":
            from rerail.rules.readers.structured import response_head

            if head := response_head(draft.lines):
                return head[1]
    return ()


def _field_failure(evidence: Evidence) -> bool:
    failed_status = evidence.http_status is not None and evidence.http_status >= 400
    has_report = evidence.stream(StreamName.REPORT) is not None
    return bool(failed_status or evidence.exceptions or evidence.signal or evidence.codes or has_report)


def _structured_failures(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the streams that say in data, whatever the exit status, that something failed."""
    from rerail.rules.readers.structured import says_failure

    return [draft for draft in drafts if says_failure(draft.lines)]
