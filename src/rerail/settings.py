"""A project's settings: which packs are on, the policy, how events are written, and what each unit declares.

`rerail.settings_file` finds the file and `rerail.settings_schema` reads it; here it becomes the values that the rest works with.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import attrs

from rerail.decisions.policy import Policy
from rerail.settings_file import PHASES, find_settings, pack_faults
from rerail.taxonomy import BUILT_IN, PACKS
from rerail.toml_lines import line_of, places

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rerail.decisions.model import Effects
    from rerail.settings_file import SettingsFile
    from rerail.settings_schema import SettingsTable, VerifyTable
    from rerail.taxonomy import Taxonomy


def _read_only(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(given))


@attrs.frozen
class UnitSettings:
    """What the settings declare about one unit."""

    effects: Effects | None = None
    """None: what the caller declares."""
    budgets: Mapping[str, int] = attrs.field(factory=dict, converter=_read_only)
    """Per class; before the project's."""
    context: Mapping[str, object] = attrs.field(factory=dict, converter=_read_only)
    """Values that a repair may fill in; before the project's."""


@attrs.frozen
class BackupSettings:
    """How long the backups of heals stay.

    One goes once both are exceeded; the newest never does, nor that of an unfinished heal.
    """

    age_s: float = 30 * 86_400.0
    """Backups that are younger stay."""
    count: int = 20
    """So many of the newest stay, whatever their age."""


@attrs.frozen
class PhaseSettings:
    """What the settings say of one phase of the verification ladder."""

    where: str
    """The file and line, for people: ``rerail.toml line 12``."""
    command: tuple[str, ...] = ()
    """Its words, which no shell reads; empty for one that is left out. The word ``{report}`` is the path of a fresh file."""
    skip: str = ""
    """Why it is left out."""
    report: str = ""
    """Where the command writes its report, relative to the project's root, as a pattern; ``-`` for its stdout."""
    report_format: str = ""
    """``""``: read from the report itself."""
    effects: Effects | None = None
    timeout_s: float | None = None
    cwd: str = ""
    """Where it runs, relative to the project's root."""


@attrs.frozen
class VerifySettings:
    """What the settings say of the verification ladder."""

    phases: Mapping[str, PhaseSettings] = attrs.field(factory=dict, converter=_read_only)
    """By name; what is not in it is for the project's other files to state."""
    required: tuple[str, ...] = ()
    """Phases without which nothing is verified."""


@attrs.frozen
class Settings:
    """A project's settings, complete: what no file says has its default."""

    policy: Policy = attrs.field(factory=Policy)
    packs: tuple[str, ...] = PACKS
    log: Literal["json", "console", "off"] | None = None
    """How events are written to stderr; None leaves it to the program's own logging."""
    backups: BackupSettings = BackupSettings()
    verify: VerifySettings = VerifySettings()
    units: Mapping[str, UnitSettings] = attrs.field(factory=dict, converter=_read_only)
    context: Mapping[str, object] = attrs.field(factory=dict, converter=_read_only)
    """Values that a repair may fill in, by field name or dotted path."""
    path: Path | None = None
    """The file; None where there is none."""

    def unit(self, name: str) -> UnitSettings:
        """Return what is declared about a unit; nothing, for most."""
        return self.units.get(name, UnitSettings())

    def policy_of(self, name: str) -> Policy:
        """Return the policy in force for a unit."""
        budgets = self.unit(name).budgets
        return attrs.evolve(self.policy, budgets={**self.policy.budgets, **budgets}) if budgets else self.policy

    def context_of(self, name: str) -> Mapping[str, object]:
        """Return what a repair of a unit's input may fill in."""
        return {**self.context, **self.unit(name).context}


def built_in(packs: Sequence[str]) -> Taxonomy:
    """Return the built-in taxonomy with only the named packs."""
    off = set(PACKS) - set(packs)
    return BUILT_IN.without_packs(off) if off else BUILT_IN


def load_settings(root: Path, *, taxonomy: Callable[[Sequence[str]], Taxonomy] = built_in) -> Settings:
    """Return the settings of the project at *root*.

    Args:
        root: Where ``rerail.toml`` or ``pyproject.toml`` lies; no other directory is looked at.
        taxonomy: Gives the classes in force from the packs that are on, so that budgets and actions can name a project's own.

    Raises:
        SettingsError: The file cannot be read, or has faults; all of them are told.
        RecipeError: From *taxonomy*.
    """
    file = find_settings(root)
    if file is None:
        return Settings(Policy(taxonomy=taxonomy(PACKS)))
    from rerail.settings_schema import read_table  # pydantic costs 200 ms

    packs = file.table.get("packs", list(PACKS))
    # Faulty packs are told with everything else; the other names are then held against all classes.
    in_force = taxonomy(PACKS if any(pack_faults(packs)) else packs)
    return _settings(read_table(file, in_force), in_force, file)


def _settings(table: SettingsTable, taxonomy: Taxonomy, file: SettingsFile) -> Settings:
    default = Policy(taxonomy=taxonomy)
    return Settings(
        policy=attrs.evolve(
            default,
            budgets=table.budgets,
            actions=table.actions,
            backoff=attrs.evolve(default.backoff, **table.backoff.given()),
            ceiling=attrs.evolve(default.ceiling, **table.ceiling.given()),
            window=default.window._replace(**table.window.given()),
        ),
        packs=PACKS if table.packs is None else tuple(table.packs),
        log=table.log,
        backups=attrs.evolve(BackupSettings(), **table.backups.given()),
        units={name: UnitSettings(unit.effects, unit.budgets, unit.context) for name, unit in table.units.items()},
        context=table.context,
        verify=_verify(table.verify, file),
        path=file.path,
    )


def _verify(table: VerifyTable, file: SettingsFile) -> VerifySettings:
    from rerail.settings_schema import command_words

    if not table.model_fields_set:
        return VerifySettings()
    known = places(file.text)
    phases = {}
    for name in PHASES:
        given = getattr(table, name)
        if given is not None:
            line = line_of(known, (*file.prefix, "verify", name))
            said = {**given.given(), "command": command_words(getattr(given, "command", None))}
            phases[name] = PhaseSettings(f"{file.path.name} line {line}", **said)
    return VerifySettings(phases, tuple(table.required))
