"""Failures and rules for tests of the engine: evidence from keywords, rules in one line."""

from __future__ import annotations

import shlex

from rerail.evidence.model import Evidence, ExceptionFact, Link, Segment, Source, Stream, StreamName
from rerail.ids import ClassName, RuleSlug
from rerail.rules.compile import RuleSet, compile_rules
from rerail.rules.model import Matcher, Rule
from rerail.taxonomy import BUILT_IN


def failure(
    *,
    message: str = "",
    stderr: str = "",
    body: str = "",
    stdout: str = "",
    command: str = "",
    tool: str = "",
    exit_code: int | None = None,
    signal: str | None = None,
    http_status: int | None = None,
    headers: dict[str, str] | None = None,
    exceptions: tuple[str, ...] = (),
    codes: tuple[str, ...] = (),
) -> Evidence:
    """Evidence as the normalisers make it; *exceptions* are type names, outermost first."""
    texts = {"message": message, "stderr": stderr, "body": body, "stdout": stdout}
    return Evidence(
        source=Source.TEXT,
        command=tuple(shlex.split(command)),
        tool=tool,
        exit_code=exit_code,
        signal=signal,
        http_status=http_status,
        headers=tuple((headers or {}).items()),
        exceptions=tuple(ExceptionFact(Link.CAUSE, (name,), "") for name in exceptions),
        codes=codes,
        streams=tuple(
            Stream(StreamName(name), (Segment(1, text.removesuffix("\n")),), text.count("\n") + 1, len(text))
            for name, text in texts.items()
            if text
        ),
    )


def rule(
    slug: str, full_reason: str, *, general: bool = False, priority: int = 0, summary: str = "", **when: object
) -> Rule:
    """A rule with one matcher; a value that is no tuple stands for a tuple of one."""
    class_, _, reason = full_reason.partition("/")
    fields = {name: value if isinstance(value, tuple) else (value,) for name, value in when.items()}
    return Rule(
        slug=RuleSlug(slug),
        class_=ClassName(class_),
        reason=reason,
        why="for a test",
        source="observed",
        when=(Matcher(**fields),),
        summary=summary,
        general=general,
        priority=priority,
    )


def rules(*each: Rule) -> RuleSet:
    """Rules in force, compiled against the built-in taxonomy."""
    return compile_rules(each, BUILT_IN)
