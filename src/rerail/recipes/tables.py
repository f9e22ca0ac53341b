"""How a recipe file is written: one strict pydantic table per TOML table, and the values that they become.

Only `rerail.recipes.schema` reads files through them; heals have their tables in `rerail.recipes.heal_schema`.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from rerail.ids import ClassName, RuleSlug
from rerail.recipes.heal_schema import HealTable  # noqa: TC001 - pydantic reads the annotation
from rerail.rules.model import Example, Matcher, Rule
from rerail.rules.patterns import MIN_LITERAL, fault, literals, remember
from rerail.taxonomy.actions import Action


def _listed(value: Any) -> Any:
    """One value stands for a list of one."""
    return value if isinstance(value, (list, tuple)) else (value,)


def _stated(value: Any) -> Any:
    """A status may be written as a number."""
    return tuple(str(each) if type(each) is int else each for each in _listed(value))


Words = Annotated[str, Field(min_length=1)]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$", max_length=80)]
Texts = Annotated[tuple[Words, ...], BeforeValidator(_listed)]
Statuses = Annotated[tuple[Annotated[str, Field(pattern=r"^(?:[45]\d\d|[45]xx)$")], ...], BeforeValidator(_stated)]
Numbers = Annotated[tuple[int, ...], BeforeValidator(_listed)]
Examples = Annotated[tuple[str | dict[str, Any], ...], BeforeValidator(_listed)]
Budget = Annotated[int, Field(ge=0, le=100)]
# In a strict table, a name is still the way to write a member.
ActionName = Annotated[Action, Field(strict=False)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class MatcherTable(_Table):
    """When a rule holds; see `rerail.rules.model.Matcher`."""

    text: Texts = ()
    stderr: Texts = ()
    stdout: Texts = ()
    not_text: Texts = ()
    exception: Texts = ()
    code: Texts = ()
    status: Statuses = ()
    exit_code: Numbers = ()
    signal: Texts = ()
    errno: Texts = ()
    tool: Texts = ()
    command: Texts = ()
    header: dict[str, str] = {}

    @field_validator("text", "stderr", "stdout", "not_text")
    @classmethod
    def _can_be_searched(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            _refuse_hazards(pattern)
            if not literals(pattern):
                message = (
                    f"pattern {pattern!r} needs a fixed text of at least {MIN_LITERAL} characters in all it matches"
                )
                raise ValueError(message)
        return patterns

    @field_validator("command")
    @classmethod
    def _is_safe(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            _refuse_hazards(pattern)
        return patterns

    @field_validator("header")
    @classmethod
    def _are_safe(cls, headers: dict[str, str]) -> dict[str, str]:
        for pattern in headers.values():
            _refuse_hazards(pattern)
        return headers

    def sees(self) -> bool:
        """Tell whether anything but a tool's name and what must not be there decides."""
        return any(getattr(self, key) for key in _MATCHER_KEYS if key not in ("tool", "not_text"))

    def matcher(self) -> Matcher:
        """Return the value."""
        return Matcher(
            text=self.text,
            stderr=self.stderr,
            stdout=self.stdout,
            not_text=self.not_text,
            exception=self.exception,
            code=self.code,
            status=self.status,
            exit_code=self.exit_code,
            signal=self.signal,
            errno=self.errno,
            tool=tuple(name.lower() for name in self.tool),
            command=self.command,
            header=tuple((name.lower(), pattern) for name, pattern in sorted(self.header.items())),
        )


_MATCHER_KEYS = tuple(MatcherTable.model_fields)


def _refuse_hazards(pattern: str) -> None:
    if message := fault(pattern):
        raise ValueError(f"pattern {pattern!r} {message}")
    remember(pattern)


class RuleTable(MatcherTable):
    """``[[rule]]``: one matcher inline, or several as ``[[rule.any]]``."""

    slug: Slug
    class_: Annotated[str, Field(alias="class")]
    reason: Words
    why: Words
    source: Words
    summary: str = ""
    may_have_landed: bool = False
    priority: int = 0
    general: bool = False
    any_: Annotated[tuple[MatcherTable, ...], Field(alias="any")] = ()
    matches: Annotated[Examples, Field(min_length=1)]
    passes_by: Examples = ()

    @model_validator(mode="after")
    def _sees_something(self) -> RuleTable:
        if self.any_ and any(getattr(self, key) for key in _MATCHER_KEYS):
            raise ValueError("has a matcher of its own beside [[rule.any]]; write all of them as [[rule.any]]")
        if not all(table.sees() for table in self.any_ or (self,)):
            raise ValueError(
                f"sees nothing: give it at least one of {', '.join(set(_MATCHER_KEYS) - {'tool', 'not_text'})}"
            )
        return self

    def rule(self, pack: str) -> Rule:
        """Return the value."""
        return Rule(
            slug=RuleSlug(self.slug),
            class_=ClassName(self.class_),
            reason=self.reason,
            why=self.why,
            source=self.source,
            when=tuple(table.matcher() for table in self.any_ or (self,)),
            summary=self.summary,
            may_have_landed=self.may_have_landed,
            priority=self.priority,
            general=self.general,
            pack=pack,
            matches=tuple(_example(each) for each in self.matches),
            passes_by=tuple(_example(each) for each in self.passes_by),
        )


class ClassTable(_Table):
    """``[[class]]``."""

    name: Slug
    signal: Words
    action: ActionName
    budget: Budget
    severity: Annotated[int, Field(ge=1, le=100)] | None = None
    """None: as high as its action may have."""
    advice: Words
    pitfall: Words


class ReasonTable(_Table):
    """``[[reason]]``."""

    class_: Annotated[str, Field(alias="class")]
    name: Slug
    summary: Words
    hint: Words
    action: ActionName | None = None


class RecipeTable(_Table):
    """A whole recipe file."""

    name: Slug | None = None
    description: str = ""
    class_: Annotated[tuple[ClassTable, ...], Field(alias="class")] = ()
    reason: tuple[ReasonTable, ...] = ()
    rule: tuple[RuleTable, ...] = ()
    heal: tuple[HealTable, ...] = ()


def _example(value: str | dict[str, Any]) -> Example:
    evidence = {"message": value} if isinstance(value, str) else value
    return Example(json.dumps(evidence, sort_keys=True, ensure_ascii=False, default=str))
