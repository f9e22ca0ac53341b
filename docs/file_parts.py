"""The made parts of the pages about files and JSON: settings, recipes, evidence.

Which keys there are is what their readers say; the words for them are here. A key without any is a `KeyError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tables import code, table

from rerail.decisions.policy import Policy
from rerail.evidence.payload_fields import PUBLIC_FIELDS
from rerail.ladder.toolchains.model import NAMES
from rerail.recipes.heal_schema import CommandTable, HealTable, WayTable
from rerail.recipes.tables import ClassTable, MatcherTable, ReasonTable, RecipeTable, RuleTable
from rerail.reports import FORMATS
from rerail.settings import BackupSettings
from rerail.settings_schema import (
    BackoffTable,
    BackupsTable,
    CeilingTable,
    PhaseTable,
    SettingsTable,
    UnitTable,
    WindowTable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

_DEFAULT = Policy()
_BACKUPS = BackupSettings()
_SETTINGS: dict[str, tuple[object, str, str]] = {
    "packs": (
        '["core", "verification", "environment"]',
        "names",
        "The packs of classes that are on. `core` is always one of them.",
    ),
    "budgets": ("as the [classes](classes.md) say", "whole numbers, 0 to 100", "Recoveries per unit, by class."),
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
    "backups.age_s": (
        _BACKUPS.age_s,
        "seconds >= 86400",
        "[Backups](backups.md) of heals that are younger stay.",
    ),
    "backups.count": (
        _BACKUPS.count,
        "whole number >= 1",
        "So many of the newest backups stay, whatever their age.",
    ),
    "verify.required": (
        "none",
        "phases",
        "Phases without which nothing is [verified](verify.md): one that no file states pauses the ladder.",
    ),
    "verify.PHASE.command": (
        "what the project's files state",
        "text or list of texts",
        "The command of `build`, `types`, `lint`, `tests` or `security`; no shell reads it. `{report}` in it is a fresh file.",
    ),
    "verify.PHASE.report": (
        "`{report}`, or what the command's own words say",
        "path pattern",
        "Where the command writes its report; `-` for its stdout. Of a file that an earlier run left nothing is read.",
    ),
    "verify.PHASE.report_format": ("read from the report", "a [format](verify.md#reports)", "The report's format."),
    "verify.PHASE.effects": (
        '`"idempotent"`',
        '`"none"`, `"idempotent"` or `"unsafe"`',
        "What a second run of the phase would do.",
    ),
    "verify.PHASE.timeout_s": ("none", "seconds > 0", "After so long an attempt is ended."),
    "verify.PHASE.cwd": ("the root", "path", "Where it runs, relative to the root."),
    "verify.PHASE.skip": ("none", "text", "Leaves the phase out, and says why. All that can be said of `diff`."),
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
    "units.NAME.budgets": ("`[budgets]`", "whole numbers, 0 to 100", "As `budgets`, for this unit."),
    "units.NAME.context": ("`[context]`", "any values", "As `context`, for this unit."),
}


def settings() -> Iterator[str]:
    assert list(_SETTINGS) == sorted(_setting_keys(), key=list(_SETTINGS).index)
    yield from table(
        ("key", "default", "value", "meaning"),
        [(code(key), default, value, meaning) for key, (default, value, meaning) in _SETTINGS.items()],
    )


def _setting_keys() -> Iterator[str]:
    tables: dict[str, type[BaseModel]] = {
        "backoff": BackoffTable,
        "ceiling": CeilingTable,
        "window": WindowTable,
        "backups": BackupsTable,
        "units": UnitTable,
    }
    for key in SettingsTable.model_fields:
        if key == "verify":
            yield "verify.required"
            yield from (f"verify.PHASE.{inner}" for inner in PhaseTable.model_fields)
            continue
        below = tables.get(key)
        where = f"{key}.NAME" if below is UnitTable else key
        yield from (f"{where}.{inner}" for inner in below.model_fields) if below else (key,)


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
            "budget": "Recoveries per unit; 0 to 100.",
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
            "class": "The class that it heals; its action, or the reason's, must be `heal`. A guide's may be any.",
            "reasons": "The reasons of that class that it is tried for.",
            "sees": "The state that it heals, as a phrase.",
            "why": "Why this is the right thing to do, as a sentence.",
            "source": "Where the facts come from.",
            "needs": "[Conditions](heals.md#needs) that must hold before anything is touched, beside the steps' own.",
            "steps": "[Steps](heals.md#steps) by name, or commands, in order; empty: a [guide](#a-guide).",
            "ensures": "[Conditions](heals.md#ensures) that must hold afterwards; one that fails undoes the steps.",
            "undo": "How it is taken back, as a sentence. Required with steps.",
            "question": "What a person is asked when it cannot be healed, as an instruction.",
            "ways": "The [ways out](#a-guide) of a guide, the best one first.",
            "touches": "Relative paths that a command may write; a change of other work undoes the heal.",
        },
    ),
    "way": (
        WayTable,
        {
            "to": "What it leads to, as a phrase that follows *To*.",
            "run": "Commands for the person, each as its words: of git or mv, and none that throws work away or skips a guard.",
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
            (code(key), "required" if field.is_required() else "", texts[key])
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
    "code": "Structured error codes, whole, in any case, however their words are joined; `~rate limit`: codes with these words.",
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
            (code(key), "required" if known[key].is_required() else "", text)
            for key, text in _RULE_KEYS.items()
            if key in known
        ],
    )
    assert MatcherTable.model_fields.keys() <= known.keys()


_EVIDENCE = {
    "id": "Passed through by `--batch`; says nothing about the failure.",
    "command": "What ran. A text is split as a shell would.",
    "exit_code": "Its exit status. 128+n is left to the rules; a negative number is a signal, as `subprocess` tells it.",
    "signal": "The signal that ended it.",
    "stdout": "Its output.",
    "stderr": "Its other stream.",
    "message": "An exception's text, or what somebody says went wrong.",
    "report": "What a tool's own report says failed: a line such as `tests: 2 of 14 failed`, then one for each check"
    " (`PLACE NAME: MESSAGE`).",
    "http_status": "The status of a response.",
    "headers": "Its headers. Only those that bear on failures are kept.",
    "body": "Its body, raw or parsed.",
    "exception_type": "The exception's class: `openai.RateLimitError`, `ConnectionResetError`.",
    "tool": "The tool that was called. Default: the program of `command`.",
    "tool_input": "What the tool was called with. Only a shell tool's `command` in it is kept.",
    "cwd": "Where it ran.",
    "duration_s": "How long it took.",
}


def phase_names() -> Iterator[str]:
    yield from table(("phase", "names"), [(code(phase), ", ".join(map(code, names))) for phase, names in NAMES.items()])


def report_formats() -> Iterator[str]:
    yield ", ".join(code(name) for name in FORMATS)


def evidence() -> Iterator[str]:
    yield from table(
        ("field", "value", "meaning"),
        [(code(name), field.expected, _EVIDENCE[name]) for name, field in PUBLIC_FIELDS.items()],
    )
