"""The tables that stand inside written pages, between ``<!-- made: NAME -->`` and ``<!-- /made -->``.

Signatures, types, defaults and docstrings are read from the source text, so that a page says what the code says, and says the
same under every Python. Where the source has no words for people, they are here; a key or member without any is a `KeyError`.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import rerail
from rerail.decisions.model import Answer, Landing, Why
from rerail.decisions.policy import Policy
from rerail.errors import RerailError
from rerail.evidence.payload_fields import PUBLIC_FIELDS
from rerail.recipes.heal_schema import CommandTable, HealTable
from rerail.recipes.tables import ClassTable, MatcherTable, ReasonTable, RecipeTable, RuleTable
from rerail.settings_schema import BackoffTable, CeilingTable, SettingsTable, UnitTable, WindowTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pydantic import BaseModel

_LINE_CHARS = 110
_PART = re.compile(r"(?<=<!-- made: )([^\n]+?)( -->\n).*?(?=<!-- /made -->)", re.DOTALL)


def filled(page: str) -> str:
    """Return a written page with its made parts as the tables have them now."""
    return _PART.sub(lambda match: match[1] + match[2] + "\n" + "\n".join(_part(match[1])) + "\n\n", page)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield "| " + " | ".join(headings) + " |"
    yield "|" + "---|" * len(headings)
    for row in rows:
        yield "| " + " | ".join(str(value).replace("|", "\\|").replace("\n", " ") for value in row) + " |"


def _part(name: str) -> Iterator[str]:
    kind, _, rest = name.partition(" ")
    return PARTS[kind](*rest.split())


# What the source says.


class Member(NamedTuple):
    """A field of a class, or a member of an enumeration."""

    name: str
    type: str
    default: str | None
    """As Python; None for a field that must be given."""
    text: str


@cache
def _definition(owner: type) -> ast.ClassDef:
    tree = ast.parse(Path(inspect.getfile(owner)).read_text(encoding="utf-8"))
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == owner.__name__)


def _own_members(owner: type) -> Iterator[Member]:
    body = _definition(owner).body
    for node, after in zip(body, [*body[1:], ast.Pass()], strict=True):
        said = after.value if isinstance(after, ast.Expr) else None
        text = _clean(str(said.value)) if isinstance(said, ast.Constant) else ""
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            kind = ast.unparse(node.annotation)
            if not kind.startswith("ClassVar") and not node.target.id.startswith("_"):
                yield Member(node.target.id, kind, _default(node.value), text)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield Member(node.targets[0].id, "", ast.unparse(node.value), text)


def _default(value: ast.expr | None) -> str | None:
    if not isinstance(value, ast.Call) or not ast.unparse(value.func).endswith("field"):
        return None if value is None else ast.unparse(value)
    given = {word.arg: ast.unparse(word.value) for word in value.keywords}
    return "{}" if given.get("factory") == "dict" else given.get("default")


def members(owner: type) -> list[Member]:
    found = {each.name: each for base in reversed(owner.__mro__[:-1]) if _is_ours(base) for each in _own_members(base)}
    # Those that can be left out come last, whoever declares them.
    return sorted(found.values(), key=lambda each: each.default is not None)


def _is_ours(owner: type) -> bool:
    return owner.__module__.startswith("rerail.")


def _clean(text: str) -> str:
    return re.sub(r"`+", "`", " ".join(text.split()))


def first_line(thing: object) -> str:
    return _clean((inspect.getdoc(thing) or "").split("\n\n")[0])


def sections(thing: object) -> dict[str, dict[str, str]]:
    """Return the ``Args:`` and ``Raises:`` of a docstring, by name."""
    found: dict[str, dict[str, str]] = {}
    for title, block in re.findall(r"^(Args|Raises):\n((?:[ ]+.*\n?|\n)+)", inspect.getdoc(thing) or "", re.MULTILINE):
        entries = re.findall(r"^    (\S+?): ((?:.*\n?)(?:[ ]{5,}.*\n?)*)", block, re.MULTILINE)
        found[title] = {name: _clean(text) for name, text in entries}
    return found


def look_up(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def _code(text: object) -> str:
    return f"`{text}`"


# The public names.


def names() -> Iterator[str]:
    things = [(name, getattr(rerail, name)) for name in rerail.__all__ if not name.startswith("__")]
    yield from table(("name", "what it is"), [(_code(name), _described(thing)) for name, thing in things])


def _described(thing: object) -> str:
    if isinstance(thing, type) or inspect.isfunction(thing):
        return first_line(thing)
    return "any of " + ", ".join(_code(each.__name__) for each in map(_origin, thing.__args__))  # type: ignore[attr-defined]


def _origin(kind: Any) -> type:
    return getattr(kind, "__origin__", kind)


def arguments(path: str) -> Iterator[str]:
    owner = look_up(path)
    function = next(
        node for node in _definition(owner).body if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    )
    said = sections(owner)["Args"]
    yield from table(
        ("argument", "default", "meaning"),
        [
            (_code(name), "" if default is None else _code(default), said[name])
            for name, default in _defaults(function.args)
        ],
    )


def _defaults(args: ast.arguments) -> Iterator[tuple[str, str | None]]:
    positional = args.args[1:]
    missing = len(positional) - len(args.defaults)
    for arg, value in zip(positional, [*[None] * missing, *args.defaults], strict=True):
        yield arg.arg, value and ast.unparse(value)
    for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield arg.arg, value and ast.unparse(value)


def methods(path: str, *left_out: str) -> Iterator[str]:
    owner = look_up(path)
    nodes = [
        node
        for base in reversed(owner.__mro__[:-1])
        if _is_ours(base)
        for node in _definition(base).body
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
    nodes = [node for node in _definition(owner).body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    yield from table(
        ("method", "what it does"),
        [
            (_code(_signature(node)), first_line(getattr(owner, node.name)))
            for node in nodes
            if not node.name.startswith("_")
        ],
    )


def _described_call(node: ast.FunctionDef | ast.AsyncFunctionDef, thing: object) -> Iterator[str]:
    yield f"### {node.name}"
    yield from ("", "```text", _signature(node), "```", "", first_line(thing))
    told = sections(thing)
    rows = [
        *((_code(name), text) for name, text in told.get("Args", {}).items()),
        *((f"raises {_code(name)}", text) for name, text in told.get("Raises", {}).items()),
    ]
    if rows:
        yield ""
        yield from table(("argument", "meaning"), rows)


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    values = [*[None] * (len(positional) - len(args.defaults)), *args.defaults]
    shown = [_argument(arg, value) for arg, value in zip(positional, values, strict=True)]
    if args.posonlyargs:
        shown.insert(len(args.posonlyargs), "/")
    if args.vararg:
        shown.append(f"*{_argument(args.vararg)}")
    elif args.kwonlyargs:
        shown.append("*")
    shown += map(_argument, args.kwonlyargs, args.kw_defaults)
    if args.kwarg:
        shown.append(f"**{_argument(args.kwarg)}")
    shown = [each for each in shown if each != "self"]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    head = ("await " if isinstance(node, ast.AsyncFunctionDef) else "") + node.name
    line = f"{head}({', '.join(shown)}){returns}"
    if len(line) <= _LINE_CHARS:
        return line
    inner = "".join(f"    {each},\n" for each in shown)
    return f"{head}(\n{inner}){returns}"


def _argument(arg: ast.arg, value: ast.expr | None = None) -> str:
    kind = f": {ast.unparse(arg.annotation)}" if arg.annotation else ""
    given = f" = {ast.unparse(value)}" if value else ""
    return f"{arg.arg}{kind}{given}"


def fields(path: str) -> Iterator[str]:
    owner = look_up(path)
    yield from table(
        ("field", "type", "default", "meaning"),
        [
            (
                _code(each.name),
                _code(each.type),
                "" if each.default is None else _code(each.default),
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
        [(_code(each.value), said[each.name] or UNSAID[each]) for each in look_up(path)],
    )


def errors() -> Iterator[str]:
    yield from table(
        ("exception", "is a", "slug", "raised when"),
        [
            (_code(each.__name__), _code(_public_base(each).__name__), _code(each.slug), first_line(each))
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


UNSAID: dict[str, str] = {
    **{f"{ended}.unit": "The unit's name." for ended in ("HandedBack", "Paused", "Stopped", "Cancelled")},
    "Succeeded.attempts": "How many attempts it took.",
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
    yield from table(
        ("answer", "say it when", "what follows"), [(_code(answer), *ANSWERS[answer]) for answer in Answer]
    )


# Settings.

_DEFAULT = Policy()
_SETTINGS: dict[str, tuple[object, str, str]] = {
    "packs": (
        '["core", "verification", "environment"]',
        "names",
        "The packs of classes that are on. `core` is always one of them.",
    ),
    "budgets": ("as the [classes](classes.md) say", "whole numbers >= 0", "Recoveries per unit, by class."),
    "actions": (
        "as the [reasons](classes.md) say",
        "`retry`, `repair`, `heal`, `pause` or `stop`",
        (
            "The action of one reason, as `environment/port-in-use`. `deterministic-policy`, `worktree`, `runtime` and"
            " `unclassified` are never retried."
        ),
    ),
    "backoff.initial_s": (
        _DEFAULT.backoff.initial_s,
        "seconds > 0",
        "The wait after the first failure; it doubles from there.",
    ),
    "backoff.cap_s": (_DEFAULT.backoff.cap_s, "seconds > 0", "Longest single wait of rerail's own curve."),
    "backoff.horizon_s": (
        _DEFAULT.backoff.horizon_s,
        "seconds > 0",
        "Longest wait that a server may ask for; beyond it the unit pauses until the stated time.",
    ),
    "backoff.total_s": (
        _DEFAULT.backoff.total_s,
        "seconds > 0",
        "Longest wait of one unit run in total; beyond it the unit pauses.",
    ),
    "backoff.jitter": (
        _DEFAULT.backoff.jitter,
        "> 0, at most 10",
        "Up to this share of a wait is added to it, never taken away.",
    ),
    "ceiling.attempts": (
        _DEFAULT.ceiling.attempts,
        "whole number >= 1",
        "Attempts of one unit run, whatever its budgets say.",
    ),
    "ceiling.wall_s": (
        _DEFAULT.ceiling.wall_s,
        "seconds > 0",
        "Time from the first attempt's start, pauses included, after which nothing is recovered.",
    ),
    "window.charges": (
        _DEFAULT.window.charges,
        "whole number >= 0",
        "Recoveries per unit and class within any window; a success does not reset it.",
    ),
    "window.length_s": (_DEFAULT.window.length_s, "seconds > 0", "How long that window is."),
    "log": (
        "the program's own logging",
        '`"json"`, `"console"` or `"off"`',
        "Writes the [events](events.md) to stderr, or to no log at all.",
    ),
    "context": ("none", "any values", "Values that a repair may fill in, by field name or dotted path (`issue.id`)."),
    "units.NAME.effects": (
        "what the caller declares",
        '`"none"`, `"idempotent"` or `"unsafe"`',
        "What a second run of this unit would do. Wins over `rerail run --effects`.",
    ),
    "units.NAME.budgets": ("`[budgets]`", "whole numbers >= 0", "As `budgets`, for this unit."),
    "units.NAME.context": ("`[context]`", "any values", "As `context`, for this unit."),
}


def settings() -> Iterator[str]:
    assert list(_SETTINGS) == sorted(_setting_keys(), key=list(_SETTINGS).index)
    yield from table(
        ("key", "default", "value", "meaning"),
        [(_code(key), default, value, meaning) for key, (default, value, meaning) in _SETTINGS.items()],
    )


def _setting_keys() -> Iterator[str]:
    tables = {"backoff": BackoffTable, "ceiling": CeilingTable, "window": WindowTable, "units": UnitTable}
    for key in SettingsTable.model_fields:
        below = tables.get(key)
        where = f"{key}.NAME" if below is UnitTable else key
        yield from (f"{where}.{inner}" for inner in below.model_fields) if below else (key,)


# Recipes.

_RECIPE_KEYS: dict[str, tuple[type[BaseModel], dict[str, str]]] = {
    "file": (
        RecipeTable,
        {
            "name": "The recipe's name in `rerail recipes list` and `rerail explain`. Default: the file's stem.",
            "description": "One line for `rerail recipes list`.",
            "class": "`[[class]]`: classes of your own.",
            "reason": "`[[reason]]`: reasons of your own, in your classes or rerail's.",
            "rule": "`[[rule]]`: how a failure is known.",
            "heal": "`[[heal]]`: how one is healed.",
        },
    ),
    "class": (
        ClassTable,
        {
            "name": "Kebab-case, and no other class's.",
            "signal": "What its failures look like.",
            "action": "`retry`, `repair`, `heal`, `pause` or `stop`.",
            "budget": "Recoveries per unit; 0 to 1000.",
            "severity": "1 to 100, default 55. Where two rules have equal evidence, the class of higher severity wins:"
            " give it to the one whose mistake costs less. rerail's: provider 10, verification 40, environment 45,"
            " tool-schema 50, git 60, deterministic-policy 70, runtime 80, worktree 90.",
            "advice": "What the block says to do.",
            "pitfall": "What must not be done.",
        },
    ),
    "reason": (
        ReasonTable,
        {
            "class": "The class that it is in.",
            "name": "Kebab-case, and new in that class.",
            "summary": "What happened.",
            "hint": "What to do next, as an instruction.",
            "action": "Where it differs from the class's.",
        },
    ),
    "heal": (
        HealTable,
        {
            "slug": "Kebab-case; unique over all recipes in force.",
            "class": "The class that it heals; its action, or the reason's, must be `heal`.",
            "reasons": "The reasons of that class that it is tried for.",
            "sees": "The state that it heals, as a phrase.",
            "why": "Why this is the right thing to do, as a sentence.",
            "source": "Where the facts come from.",
            "needs": "[Conditions](heals.md#needs) that must hold before anything is touched, beside the steps' own.",
            "steps": "[Steps](heals.md#steps) by name, or commands, in order.",
            "ensures": "[Conditions](heals.md#ensures) that must hold afterwards; one that fails undoes the steps.",
            "undo": "How it is taken back, as a sentence.",
            "question": "What a person is asked when it cannot be healed, as an instruction.",
            "touches": "Relative paths that a command may write; a change of other work undoes the heal.",
        },
    ),
    "command": (
        CommandTable,
        {
            "run": "The argument list; no shell reads it. git, shells, `env`, `sudo`, `xargs` and `rm` are refused.",
            "timeout_s": "Seconds, above 0 and at most 3600. Default 120.",
        },
    ),
}


def recipe_keys(name: str) -> Iterator[str]:
    model, texts = _RECIPE_KEYS[name]
    yield from table(
        ("key", "", "meaning"),
        [
            (_code(key), "required" if field.is_required() else "", texts[key])
            for key, field in ((field.alias or key, field) for key, field in model.model_fields.items())
        ],
    )


_RULE_KEYS = {
    "slug": "Kebab-case; unique over all recipes in force.",
    "class": "The class that it names.",
    "reason": "The reason that it names; `rerail explain CLASS` lists them.",
    "why": "What is wrong when it matches, as a sentence for people.",
    "source": "Where the fact comes from: documentation, a tool's source, or `observed`.",
    "text": "Patterns for one line of any stream.",
    "stderr": "Patterns for a line of stderr.",
    "stdout": "Patterns for a line of stdout.",
    "not_text": "Patterns of which none may match.",
    "exception": "Exception types by name, with or without their module; subclasses match.",
    "code": "Structured error codes, whole, in any case.",
    "status": 'HTTP statuses: `429`, or `"5xx"`.',
    "exit_code": "Exit codes.",
    "signal": 'Signals: `"SIGKILL"`.',
    "errno": 'System errors: `"ENOSPC"`.',
    "tool": "Programs or tools by name. Narrows a rule; is not enough for one.",
    "command": "Patterns for the joined argument list.",
    "header": "A table of header names and patterns; all must match.",
    "any": "`[[rule.any]]`: several alternatives, each with the keys from `text` to `header`.",
    "summary": "The failure in one line; `{0}` is the first group of the pattern that matched. Default: the cited line.",
    "may_have_landed": "The effect may have happened although the failure says otherwise. Default false.",
    "priority": "Orders rules of equal evidence; the higher one wins. Default 0.",
    "general": "It names only a family, or an echo; whatever names the cause beside it wins. Default false.",
    "matches": "Evidence that it must match, as text or [evidence JSON](evidence.md); at least one. Run as tests.",
    "passes_by": "Evidence that it must not match. Run as tests.",
}


def rule_keys() -> Iterator[str]:
    known = {field.alias or key: field for key, field in RuleTable.model_fields.items()}
    assert known.keys() == _RULE_KEYS.keys()
    yield from table(
        ("key", "", "meaning"),
        [
            (_code(key), "required" if known[key].is_required() else "", text)
            for key, text in _RULE_KEYS.items()
            if key in known
        ],
    )
    assert MatcherTable.model_fields.keys() <= known.keys()


# Evidence.

_EVIDENCE = {
    "id": "Passed through by `--batch`; says nothing about the failure.",
    "command": "What ran. A text is split as a shell would.",
    "exit_code": "Its exit status. 128+n is left to the rules; a negative number is a signal, as `subprocess` tells it.",
    "signal": "The signal that ended it.",
    "stdout": "Its output.",
    "stderr": "Its other stream.",
    "message": "An exception's text, or what somebody says went wrong.",
    "http_status": "The status of a response.",
    "headers": "Its headers. Only those that bear on failures are kept.",
    "body": "Its body, raw or parsed.",
    "exception_type": "The exception's class: `openai.RateLimitError`, `ConnectionResetError`.",
    "tool": "The tool that was called. Default: the program of `command`.",
    "tool_input": "What the tool was called with. Only a shell tool's `command` in it is kept.",
    "cwd": "Where it ran.",
    "duration_s": "How long it took.",
}


def evidence() -> Iterator[str]:
    yield from table(
        ("field", "value", "meaning"),
        [(_code(name), field.expected, _EVIDENCE[name]) for name, field in PUBLIC_FIELDS.items()],
    )


PARTS: dict[str, Callable[..., Iterator[str]]] = {
    "names": names,
    "arguments": arguments,
    "methods": methods,
    "calls": calls,
    "function": function,
    "fields": fields,
    "values": values,
    "errors": errors,
    "answers": answers,
    "settings": settings,
    "recipe-keys": recipe_keys,
    "rule-keys": rule_keys,
    "evidence": evidence,
}
"""Every made part, by the first word of its name; the other words are its arguments."""
