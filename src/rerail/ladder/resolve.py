"""From what a project's files say to its phases: the settings first, then scripts by name, then tools' own configuration.

A pure function. A phase that nothing states stays unresolved: what a project means by it is not for rerail to guess. Where files
of several languages state a phase and no runner of tasks speaks for all of them, that is unresolved too: to run one of them would
pass for the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from rerail.decisions.model import Effects
from rerail.ladder.model import LeftOut, Looks, Phase, Runs, Unresolved, shown
from rerail.ladder.toolchains import TOOLCHAINS
from rerail.settings_file import DIFF, PHASES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rerail.ladder.model import Facts, Stated
    from rerail.ladder.toolchains import Toolchain
    from rerail.settings import PhaseSettings, VerifySettings


@attrs.frozen
class _Choice:
    """What one toolchain states for a phase."""

    toolchain: Toolchain
    best: Stated
    also: tuple[Stated, ...]
    is_script: bool


def resolve(facts: Facts, settings: VerifySettings, asked: Sequence[str] = ()) -> tuple[Phase, ...]:
    """Return the phases that were asked for, in the order in which they run.

    Args:
        facts: What is at the project's root.
        settings: What the project's settings say.
        asked: Names of phases; none asks for all.
    """
    stated = {name: list(_choices(facts, name)) for name in PHASES}
    build = _speaker(stated["build"])
    phases = []
    for name in PHASES:
        if asked and name not in asked:
            continue
        own = settings.phases.get(name)
        if own is not None and (own.command or own.skip):
            phases.append(_of_settings(name, own))
        elif name == DIFF:
            phases.append(Looks(name) if facts.is_in_repository else LeftOut(name, "", "there is no git repository"))
        else:
            is_wanted = name in asked or name in settings.required
            phases.append(_of_files(name, stated[name], build, is_wanted=is_wanted))
    return tuple(phases)


def _of_settings(name: str, own: PhaseSettings) -> Phase:
    if own.skip:
        return LeftOut(name, own.where, own.skip)
    return Runs(
        name,
        own.command,
        own.where,
        own.report,
        own.report_format,
        own.effects or Effects.IDEMPOTENT,
        own.timeout_s,
        own.cwd,
    )


def _of_files(name: str, choices: list[_Choice], build: _Choice | None, *, is_wanted: bool) -> Phase:
    speaker = _speaker(choices)
    if speaker is not None:
        also = tuple(f"{shown(each.command)} ({each.source})" for each in speaker.also)
        return Runs(name, speaker.best.command, speaker.best.source, speaker.best.report, also=also)
    if choices:
        ways = "; ".join(f"{shown(each.best.command)} ({each.best.source})" for each in choices)
        return Unresolved(name, f"several files state it, and none speaks for all: {ways}", is_wanted)
    if name == "types" and build is not None and build.toolchain.build_checks_types:
        return LeftOut(name, build.best.source, "the build checks them")
    return Unresolved(name, "no file of the project states it", is_wanted)


def _choices(facts: Facts, name: str) -> Iterator[_Choice]:
    for toolchain in TOOLCHAINS:
        scripts = [each for each in toolchain.scripts(facts) if each.phase == name]
        tools = [] if scripts else [each for each in toolchain.tools(facts) if each.phase == name]
        if found := scripts or tools:
            others = {each.command: each for each in tools[1:] if each.command != found[0].command}
            yield _Choice(toolchain, found[0], tuple(others.values()), bool(scripts))


def _speaker(choices: Sequence[_Choice]) -> _Choice | None:
    """Return the choice that speaks for the project: the only language's, or that of a runner of tasks beside others."""
    languages = [each for each in choices if not each.toolchain.speaks_for_all]
    runners = [each for each in choices if each.toolchain.speaks_for_all]
    if len(languages) == 1 and (not runners or languages[0].is_script):
        return languages[0]
    return runners[0] if runners else None
