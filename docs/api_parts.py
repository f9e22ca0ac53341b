"""The made parts of the page of the Python API: tables of names, arguments, fields, values and errors.

Where the source has no words for people, they are here; a field or member without any is a `KeyError`.
"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from source import definition, description, first_line, is_ours, look_up, members, sections, signature
from tables import code, table

import rerail
from rerail.decisions.model import Answer, Landing, Why
from rerail.errors import RerailError

if TYPE_CHECKING:
    from collections.abc import Iterator


def names() -> Iterator[str]:
    things = [(name, getattr(rerail, name)) for name in rerail.__all__ if not name.startswith("__")]
    yield from table(("name", "what it is"), [(code(name), _described(thing)) for name, thing in things])


def _described(thing: object) -> str:
    if isinstance(thing, type) or inspect.isfunction(thing):
        return first_line(thing)
    return "any of " + ", ".join(code(each.__name__) for each in map(_origin, thing.__args__))  # type: ignore[attr-defined]


def _origin(kind: Any) -> Any:
    return getattr(kind, "__origin__", kind)


def arguments(path: str) -> Iterator[str]:
    owner = look_up(path)
    function = next(
        node for node in definition(owner).body if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    )
    said = sections(owner)["Args"]
    yield from table(
        ("argument", "default", "meaning"),
        [
            (code(name), "" if default is None else code(default), said[name])
            for name, default in _defaults(function.args)
        ],
    )


def _defaults(args: ast.arguments) -> Iterator[tuple[str, str | None]]:
    positional = args.args[1:]
    missing = len(positional) - len(args.defaults)
    for arg, value in zip(positional, [*[None] * missing, *args.defaults], strict=True):
        yield arg.arg, None if value is None else ast.unparse(value)
    for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield arg.arg, None if value is None else ast.unparse(value)


def methods(path: str, *left_out: str) -> Iterator[str]:
    owner = look_up(path)
    nodes = [
        node
        for base in reversed(owner.__mro__[:-1])
        if is_ours(base)
        for node in definition(base).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    shown = [
        node
        for node in nodes
        if not node.name.startswith("_")
        and node.name not in left_out
        and "overload" not in map(ast.unparse, node.decorator_list)
    ]
    for index, node in enumerate(shown):
        if index:
            yield ""
        yield from _described_call(node, getattr(owner, node.name))


def function(path: str) -> Iterator[str]:
    thing = look_up(path)
    tree = ast.parse(Path(inspect.getfile(thing)).read_text(encoding="utf-8"))
    node = next(each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == thing.__name__)
    yield from _described_call(node, thing)


def calls(path: str) -> Iterator[str]:
    """Make one table of a small class's methods."""
    owner = look_up(path)
    nodes = [node for node in definition(owner).body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    yield from table(
        ("method", "what it does"),
        [
            (code(signature(node)), first_line(getattr(owner, node.name)))
            for node in nodes
            if not node.name.startswith("_")
        ],
    )


def _described_call(node: ast.FunctionDef | ast.AsyncFunctionDef, thing: object) -> Iterator[str]:
    yield f"### {node.name}"
    yield from ("", "```text", signature(node), "```", "", description(thing))
    told = sections(thing)
    rows = [
        *((code(name), text) for name, text in told.get("Args", {}).items()),
        *((f"raises {code(name)}", text) for name, text in told.get("Raises", {}).items()),
    ]
    if rows:
        yield ""
        yield from table(("", ""), rows)


def fields(path: str) -> Iterator[str]:
    owner = look_up(path)
    yield from table(
        ("field", "type", "default", "meaning"),
        [
            (
                code(each.name),
                code(each.type),
                "" if each.default is None else code(each.default),
                each.text or UNSAID[f"{owner.__name__}.{each.name}"],
            )
            for each in members(owner)
        ],
    )


def values(path: str) -> Iterator[str]:
    """Make a table of an enumeration's members."""
    said = {each.name: each.text for each in members(look_up(path))}
    yield from table(
        ("value", "meaning"),
        [(code(each.value), said[each.name] or UNSAID[each]) for each in look_up(path)],
    )


def errors() -> Iterator[str]:
    yield from table(
        ("exception", "is a", "slug", "raised when"),
        [
            (code(each.__name__), code(_public_base(each).__name__), code(each.slug), first_line(each))
            for each in _public_errors()
        ],
    )


def _public_errors() -> Iterator[Any]:
    for name in rerail.__all__:
        thing = getattr(rerail, name)
        if isinstance(thing, type) and issubclass(thing, RerailError):
            yield thing


def _public_base(error: type) -> type:
    return next(base for base in error.__mro__[1:] if base.__name__ in rerail.__all__ or base is Exception)


_PAUSE = {
    "id": "What an answer names.",
    "unit": "The unit's name.",
    "run": "The unit run.",
    "asked_at_s": "When it was asked: wall clock, seconds since the epoch.",
    "why": "Why it pauses.",
    "class_": "The failure's class.",
    "reason": "The reason within the class.",
    "rule": "The rule that named it.",
    "resume_at_s": "When it may go on by itself: wall clock, seconds since the epoch; None when only an answer lets it.",
    "cwd": "Where it ran.",
    "answer": "None while it is open.",
    "answered_at_s": "When it was answered.",
    "note": "What the operator wrote with the answer.",
}
UNSAID: dict[str, str] = {
    **{f"{ended}.unit": "The unit's name." for ended in ("HandedBack", "Paused", "Stopped", "Cancelled")},
    "Succeeded.attempts": "How many attempts it took.",
    **{f"PauseRecord.{name}": text for name, text in _PAUSE.items()},
    "FailureRecord.run": "The unit run.",
    "FailureRecord.unit": "The unit's name.",
    "FailureRecord.evidence": "What failed.",
    "FailureRecord.classification": "Its name.",
    "FailureRecord.decision": "What is done about it.",
    "Classification.class_": "The class's name.",
    "Classification.reason": "The reason within the class.",
    "Classification.evidence": "The lines or facts that decided, each with `stream`, `line` (from 1; 0 for a fact) and `text`.",
    "Classification.action": "What the class or reason calls for.",
    "Classification.may_have_landed": "The effect may have happened although the failure says otherwise.",
    "Classification.trace": "The rules that matched, the winner first, and why the others lost.",
    "Evidence.source": "Where it came from: an exception, a process, a response, an MCP result, a hook, a text.",
    "Evidence.exit_code": "The exit status.",
    "Evidence.http_status": "The response's status.",
    "Evidence.cwd": "Where it ran.",
    "Evidence.duration_s": "How long it took, in seconds.",
    "RepairRequest.unit": "The unit's name.",
    "RepairRequest.classification": "The name of the rejection.",
    "RepairRequest.evidence": "The rejection itself.",
    "Block.class_": "The class's name.",
    "Block.budget": "Recoveries that the unit has for this class.",
    "Policy.taxonomy": "The classes in force.",
    "Policy.backoff": "How long to wait between attempts.",
    "Policy.ceiling": "Caps on one unit run.",
    "Ceiling.attempts": "Attempts of one unit run.",
    "Scenario.effects": "What the unit declares.",
    "Scenario.heal": "How its heals end.",
    "Scenario.landing": "What its probe finds.",
    "Timeline.end": "The state and decision that the run ended with.",
    "Timeline.failures": "Every failure, named, with what was decided.",
    "Timeline.waits_s": "Every wait, in order.",
    Landing.LANDED: "It is there: the unit succeeded.",
    Landing.ABSENT: "It is not there: the unit runs again.",
    Landing.UNKNOWN: "Nobody can say: the unit pauses.",
    Why.BUDGET_SPENT: "The class's budget for this unit is spent.",
    Why.WINDOW_SPENT: "The class's rolling window for this unit is full.",
    Why.LEDGER_UNUSABLE: "The ledger cannot be used, so its budgets count as spent.",
    Why.ATTEMPT_CEILING: "The run has made as many attempts as it may.",
    Why.TIME_CEILING: "The run has gone on as long as it may.",
    Why.TOTAL_WAIT: "The run has waited as long as it may.",
}
"""What the source leaves to the name."""

ANSWERS = {
    Answer.RETRY: (
        "Run it again: the cause is gone, or the effect did not land.",
        "The unit's next attempt runs. Its budget stays as it is.",
    ),
    Answer.APPROVE: (
        "What was denied is allowed now: you changed the gate, the key or the permission.",
        "As `retry`; the history tells the two apart. rerail opens no gate by itself.",
    ),
    Answer.SKIP: (
        "Go on without it: the effect is there already, or is not wanted.",
        "The unit's next run makes no attempt and ends stopped, with `why` `skipped`; the one after it starts anew.",
    ),
    Answer.ABORT: (
        "End it: whoever runs the unit should not go on either.",
        "As `skip`, with `why` `aborted`; a harness tells the two apart by it.",
    ),
}


def answers() -> Iterator[str]:
    yield from table(("answer", "say it when", "what follows"), [(code(answer), *ANSWERS[answer]) for answer in Answer])
