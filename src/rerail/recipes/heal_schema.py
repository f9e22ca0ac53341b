"""``[[heal]]`` tables of a recipe file: how they are written, and the value that one becomes."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from rerail.ids import ClassName
from rerail.recipes import asks
from rerail.recipes.heals import Ensure, HealRecipe, Need, Primitive, RunCommand, Step, StepName

_STRICT = ConfigDict(extra="forbid", frozen=True, regex_engine="python-re")  # look-ahead in a pattern
_Sentence = Annotated[str, Field(min_length=3, max_length=500)]
_Phrase = Annotated[str, Field(min_length=3, max_length=120, pattern=r"^[ -~]+$")]
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


class WayTable(BaseModel):
    """A way out for a person: ``{ to = "give it up", run = [["git", "-C", "{root}", "{operation}", "--abort"]] }``."""

    model_config = _STRICT

    to: _Phrase
    run: Annotated[list[Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=2)]], Field(min_length=1)]

    @field_validator("run")
    @classmethod
    def _can_be_asked_for(cls, commands: list[list[str]]) -> list[list[str]]:
        for words in commands:
            asks.command(words)
        return commands

    def way(self) -> asks.Way:
        """Return the value that it stands for."""
        return asks.Way(self.to, tuple(map(asks.command, self.run)))


class HealTable(BaseModel):
    """One heal; without steps, a guide, which asks a person."""

    model_config = _STRICT

    slug: _Slug
    class_: Annotated[str, Field(alias="class", min_length=1)]
    reasons: Annotated[list[_Slug], Field(min_length=1)]
    sees: _Sentence
    why: _Sentence
    source: _Sentence
    needs: list[Need] = []
    steps: list[StepName | CommandTable]
    ensures: list[Ensure] = []
    undo: _Sentence | None = None
    question: _Sentence
    ways: list[WayTable] = []
    touches: list[Annotated[str, Field(pattern=r"^(?!/)(?!.*(^|/)\.\.(/|$)).+$")]] = []

    @field_validator("question")
    @classmethod
    def _takes_known_facts(cls, question: str) -> str:
        asks.template(question)
        return question

    @model_validator(mode="after")
    def _is_a_heal_or_a_guide(self) -> HealTable:
        if self.steps:
            if self.undo is None:
                raise ValueError("a heal says in undo how it is taken back")
            if self.ways or asks.facts(asks.template(self.question)):
                raise ValueError("only a guide, which has no steps, has ways and takes facts into its question")
        elif self.ensures or self.touches or self.undo is not None:
            raise ValueError("a recipe without steps changes nothing: it has no ensures, touches and undo")
        elif not self.needs and not asks.facts(asks.template(self.question)):
            raise ValueError("a guide names in needs, or by facts in its question, what shows that it is meant")
        return self


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
        undo=table.undo or "",
        question=table.question,
        ways=tuple(each.way() for each in table.ways),
        touches=tuple(table.touches),
        pack=pack,
        digest=digest,
        file=file,
    )


def _step(written: StepName | CommandTable) -> Step:
    if isinstance(written, CommandTable):
        return RunCommand(tuple(written.run), written.timeout_s)
    return Primitive(written)
