"""``[[heal]]`` tables of a recipe file: how they are written, and the value that one becomes."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from rerail.ids import ClassName
from rerail.recipes.heals import Ensure, HealRecipe, Need, Primitive, RunCommand, Step, StepName

_STRICT = ConfigDict(extra="forbid", frozen=True, regex_engine="python-re")  # look-ahead in a pattern
_Sentence = Annotated[str, Field(min_length=3, max_length=500)]
_Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]

# A step that runs git, or a shell with a script of its own, would lead around the closed set of steps.
_NOT_COMMANDS = frozenset(
    {
        "git",
        "sh",
        "bash",
        "zsh",
        "dash",
        "ksh",
        "fish",
        "cmd",
        "powershell",
        "pwsh",
        "env",
        "sudo",
        "xargs",
        "eval",
        "exec",
        "rm",
    }
)


class CommandTable(BaseModel):
    """A step that runs a project's command: ``{ run = ["npm", "install", "--package-lock-only"], timeout_s = 120 }``."""

    model_config = _STRICT

    run: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
    timeout_s: Annotated[float, Field(gt=0, le=3600)] = 120.0

    @field_validator("run")
    @classmethod
    def _is_no_detour(cls, argv: list[str]) -> list[str]:
        program = PurePath(argv[0]).name.removesuffix(".exe")
        if program in _NOT_COMMANDS or program.startswith("git-"):
            msg = f"{program} cannot be a step: name the project's own program, and let rerail's steps talk to git"
            raise ValueError(msg)
        if any("\0" in word for word in argv):
            msg = "an argument holds a NUL byte"
            raise ValueError(msg)
        return argv


class HealTable(BaseModel):
    """One heal."""

    model_config = _STRICT

    slug: _Slug
    class_: Annotated[str, Field(alias="class", min_length=1)]
    reasons: Annotated[list[_Slug], Field(min_length=1)]
    sees: _Sentence
    why: _Sentence
    source: _Sentence
    needs: list[Need] = []
    steps: Annotated[list[StepName | CommandTable], Field(min_length=1)]
    ensures: list[Ensure] = []
    undo: _Sentence
    question: _Sentence
    touches: list[Annotated[str, Field(pattern=r"^(?!/)(?!.*(^|/)\.\.(/|$)).+$")]] = []


def heal_recipe(table: HealTable, *, pack: str = "", digest: str = "", file: str = "") -> HealRecipe:
    """Return the recipe that a table stands for.

    Args:
        table: The table as read.
        pack: The recipe file that owns it.
        digest: The content hash of that file.
        file: That file, as faults name it.
    """
    return HealRecipe(
        slug=table.slug,
        class_=ClassName(table.class_),
        reasons=tuple(table.reasons),
        sees=table.sees,
        why=table.why,
        source=table.source,
        needs=tuple(table.needs),
        steps=tuple(map(_step, table.steps)),
        ensures=tuple(table.ensures),
        undo=table.undo,
        question=table.question,
        touches=tuple(table.touches),
        pack=pack,
        digest=digest,
        file=file,
    )


def _step(written: StepName | CommandTable) -> Step:
    if isinstance(written, CommandTable):
        return RunCommand(tuple(written.run), written.timeout_s)
    return Primitive(written)
