"""The settings file as pydantic sees it: every fault is found before any is told. Imported only where there is a file."""

from __future__ import annotations

import shlex
from difflib import get_close_matches
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rerail.decisions.model import Effects
from rerail.decisions.policy import MOST_RECOVERIES, Policy
from rerail.errors import SettingsError, UnknownNameError
from rerail.reports import FORMATS
from rerail.settings_file import DIFF, PHASES, did_you_mean, pack_faults
from rerail.taxonomy import Action

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic_core import ErrorDetails

    from rerail.settings_file import SettingsFile
    from rerail.taxonomy import Taxonomy
    from rerail.toml_lines import KeyPath

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Budget = Annotated[int, Field(ge=0, le=MOST_RECOVERIES)]
# In a strict table, a name is still the way to write a member.
ActionName = Annotated[Action, Field(strict=False)]
EffectsName = Annotated[Effects, Field(strict=False)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def given(self) -> dict[str, Any]:
        """Return only the keys that the file has."""
        return {key: getattr(self, key) for key in self.model_fields_set}


class BackoffTable(_Table):
    """``[backoff]``; see `rerail.decisions.policy.Backoff`."""

    initial_s: Seconds = 0.0
    cap_s: Seconds = 0.0
    horizon_s: Seconds = 0.0
    total_s: Seconds = 0.0
    jitter: Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)] = 0.0


class CeilingTable(_Table):
    """``[ceiling]``; see `rerail.decisions.policy.Ceiling`."""

    attempts: Annotated[int, Field(ge=1)] = 1
    wall_s: Seconds = 0.0


class WindowTable(_Table):
    """``[window]``; see `rerail.budget.model.Window`."""

    charges: Annotated[int, Field(ge=0)] = 0
    length_s: Seconds = 0.0


class BackupsTable(_Table):
    """``[backups]``; see `rerail.settings.BackupSettings`. An agent can write this file too, so a day is the least."""

    age_s: Annotated[float, Field(ge=86_400, allow_inf_nan=False)] = 86_400.0
    count: Annotated[int, Field(ge=1)] = 1


class UnitTable(_Table):
    """``[units."NAME"]``: what one unit declares."""

    effects: EffectsName | None = None
    budgets: dict[str, Budget] = {}
    context: dict[str, Any] = {}


class PhaseTable(_Table):
    """``[verify.PHASE]``: how a phase is verified; see `rerail.settings.PhaseSettings`."""

    command: Any = None
    report: str = ""
    report_format: str = ""
    effects: EffectsName | None = None
    timeout_s: Seconds | None = None
    cwd: str = ""
    skip: str = ""


class DiffTable(_Table):
    """``[verify.diff]``: rerail's own phase runs no command."""

    skip: str = ""


class VerifyTable(_Table):
    """``[verify]``; what is said of a phase here goes before all that other files state."""

    required: list[str] = []
    build: PhaseTable | None = None
    types: PhaseTable | None = None
    lint: PhaseTable | None = None
    tests: PhaseTable | None = None
    security: PhaseTable | None = None
    diff: DiffTable | None = None


class SettingsTable(_Table):
    """The whole file. A key that is left out keeps the default of what it sets."""

    packs: list[str] | None = None
    budgets: dict[str, Budget] = {}
    actions: dict[str, ActionName] = {}
    backoff: BackoffTable = BackoffTable()
    ceiling: CeilingTable = CeilingTable()
    window: WindowTable = WindowTable()
    backups: BackupsTable = BackupsTable()
    verify: VerifyTable = VerifyTable()
    log: Literal["json", "console", "off"] | None = None
    units: dict[str, UnitTable] = {}
    context: dict[str, Any] = {}


def read_table(file: SettingsFile, taxonomy: Taxonomy) -> SettingsTable:
    """Return the settings of a file.

    Raises:
        SettingsError: With all faults of the file, in the order of their lines.
    """
    found = [*_refused_names(file.table, taxonomy), *_verify_faults(file.table.get("verify"))]
    parsed: SettingsTable | None = None
    try:
        parsed = SettingsTable.model_validate(file.table)
    except ValidationError as error:
        found += (_told(each) for each in error.errors(include_url=False) if each["loc"][0] != "packs")
    if "packs" in file.table:
        found += pack_faults(file.table["packs"])
    if found or parsed is None:
        raise SettingsError(file.faults(found))
    return parsed


def _refused_names(table: Mapping[str, Any], taxonomy: Taxonomy) -> Iterator[tuple[KeyPath, str]]:
    """Yield the names that the policy refuses, whatever their values."""
    budgets: list[tuple[KeyPath, Any]] = [(("budgets",), table.get("budgets"))]
    for name, unit in _items(table.get("units")):
        budgets.append((("units", name, "budgets"), dict(_items(unit)).get("budgets")))
    for path, given in budgets:
        for name, _ in _items(given):
            if message := _refusal(taxonomy, budgets={name: 0}):
                yield (*path, name), message
    for name, value in _items(table.get("actions")):
        action = Action(value) if value in list(Action) else Action.STOP
        if message := _refusal(taxonomy, actions={name: action}):
            yield ("actions", name), message.removeprefix(f"actions.{name}: ")


def _verify_faults(table: Any) -> Iterator[tuple[KeyPath, str]]:
    """Yield what types alone do not tell of ``[verify]``: commands, paths and names."""
    for place, name in enumerate(required if isinstance(required := dict(_items(table)).get("required"), list) else ()):
        if name not in PHASES:
            yield ("verify", "required", place), f"must be a phase, one of {', '.join(PHASES)}, got {name!r:.60}"
    for phase, given in _items(table):
        if phase not in PHASES or not isinstance(given, dict):
            continue
        at: KeyPath = ("verify", phase)
        if phase != DIFF:
            if "command" not in given and "skip" not in given:
                yield at, 'must have a command, such as ["pytest", "-q"], or skip = "why it is left out"'
            elif "command" in given and "skip" in given:
                yield (*at, "skip"), "stands beside a command: a phase is run or left out"
            if "command" in given and not command_words(given["command"]):
                yield (*at, "command"), f"must be a command, as a text or a list of texts, got {given['command']!r:.60}"
        if "skip" in given and isinstance(given["skip"], str) and not given["skip"].strip():
            yield (*at, "skip"), "must say why the phase is left out"
        yield from _path_faults(at, given)


def _path_faults(at: KeyPath, given: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    for key in ("cwd", "report"):
        path = given.get(key, "")
        if isinstance(path, str) and (PurePath(path).is_absolute() or ".." in PurePath(path).parts):
            yield (*at, key), f"must lie inside the project, relative to its root, got {path!r:.60}"
    name = given.get("report_format", "")
    if isinstance(name, str) and name and name not in FORMATS:
        near = get_close_matches(name, FORMATS, n=1, cutoff=0.5)
        yield (*at, "report_format"), f"there is no format named {name!r:.60}; {did_you_mean(near, FORMATS)}"


def command_words(command: object) -> tuple[str, ...]:
    """Return a command as its words, split as a shell would where it is a text; no shell reads it. ``()``: it is none."""
    if isinstance(command, str):
        try:
            return tuple(shlex.split(command))
        except ValueError:
            return ()
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return ()
    return tuple(command) if command and command[0] else ()


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()


def _refusal(taxonomy: Taxonomy, **part: Any) -> str | None:
    try:
        Policy(taxonomy=taxonomy, **part)
    except UnknownNameError as error:
        return f"{error.message}; {error.hint or did_you_mean((), (spec.name for spec in taxonomy))}"
    except ValueError as error:
        return str(error)
    return None


def _told(error: ErrorDetails) -> tuple[KeyPath, str]:
    """Return the place and the words of one of pydantic's errors."""
    path = tuple(part for part in error["loc"] if part != "[key]")
    if error["type"] == "extra_forbidden":
        known = list(_table_at(path[:-1]).model_fields)
        near = get_close_matches(str(path[-1]), known, n=1, cutoff=0.5)
        return path, f"is no setting; {did_you_mean(near, known)}"
    words = _WORDS.get(error["type"], error["msg"].removeprefix("Input should be "))
    return path, f"must be {words}, got {error['input']!r:.60}"


_WORDS = {
    "model_type": "a table",
    "dict_type": "a table",
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "a text",
    "list_type": "a list",
}
"""What pydantic says in Python's words, in TOML's."""


def _table_at(path: KeyPath) -> type[_Table]:
    match path:
        case ("backoff",):
            return BackoffTable
        case ("ceiling",):
            return CeilingTable
        case ("window",):
            return WindowTable
        case ("backups",):
            return BackupsTable
        case ("units", _):
            return UnitTable
        case ("verify",):
            return VerifyTable
        case ("verify", "diff"):
            return DiffTable
        case ("verify", _):
            return PhaseTable
        case _:
            return SettingsTable
