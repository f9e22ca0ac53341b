"""The reader of recipe files: TOML in, values out, every fault of a file told at once with its line.

Which files exist is the business of `rerail.recipes.read`, and what they make together that of `rerail.recipes.assemble`.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from hashlib import sha256
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from rerail.errors import FileFault, RecipeError
from rerail.ids import ClassName, RuleSlug
from rerail.recipes.heal_schema import HealTable, heal_recipe
from rerail.recipes.model import Recipe
from rerail.rules.model import Example, Matcher, Rule
from rerail.rules.patterns import MIN_LITERAL, fault, literals
from rerail.taxonomy import BUILT_IN
from rerail.taxonomy.actions import Action
from rerail.taxonomy.model import ClassSpec, ReasonSpec
from rerail.toml_lines import dotted, line_of, parse_toml, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pydantic_core import ErrorDetails

    from rerail.toml_lines import KeyPath, Places


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
Budget = Annotated[int, Field(ge=0, le=1_000)]
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
    severity: Annotated[int, Field(ge=1, le=100)] = 55
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


_TABLES: dict[str, type[BaseModel]] = {
    "": RecipeTable,
    "class": ClassTable,
    "reason": ReasonTable,
    "rule": RuleTable,
    "any": MatcherTable,
    "heal": HealTable,
}
_KEYS = frozenset(field.alias or name for table in _TABLES.values() for name, field in table.model_fields.items())


def declared(texts: Iterable[str]) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    """Return all classes, and all (class, reason) pairs, that exist with these recipe files; no TOML adds none."""
    classes = {str(spec.name) for spec in BUILT_IN}
    reasons = {(str(spec.name), reason.name) for spec in BUILT_IN for reason in BUILT_IN.reasons(spec.name)}
    for text in texts:
        try:
            raw = parse_toml(text, "", RecipeError)
        except RecipeError:
            continue
        classes |= {str(row.get("name")) for row in _rows(raw, "class")}
        reasons |= {(str(row.get("class")), str(row.get("name"))) for row in _rows(raw, "reason")}
    return frozenset(classes), frozenset(reasons)


def read_recipe(
    text: str,
    where: str,
    *,
    known_classes: frozenset[str] | None = None,
    known_reasons: frozenset[tuple[str, str]] | None = None,
) -> Recipe:
    """Read one recipe file.

    Args:
        text: The file's text.
        where: The file, as faults should name it; its stem is the recipe's name unless the file gives one.
        known_classes: Every class that may be named; by default the built-in ones and the file's own.
        known_reasons: Every (class, reason) pair that may be named; by default likewise.

    Raises:
        RecipeError: The file has faults; all of them are told, in the order of their lines.
    """
    raw = parse_toml(text, where, RecipeError)
    known = places(text)
    if known_classes is None or known_reasons is None:
        known_classes, known_reasons = declared([text])
    faults = list(_faulty_names(raw, where, known, known_classes, known_reasons))
    parsed = None
    try:
        parsed = RecipeTable.model_validate(_tuples(raw))
    except ValidationError as error:
        faults += [_told(each, where, known) for each in error.errors(include_url=False, include_context=False)]
    if parsed is None or faults:
        raise RecipeError(sorted(faults, key=lambda each: each.line or 0))
    return _recipe(parsed, text, where, known)


def _tuples(value: Any) -> Any:
    """Return *value* with tuples for lists: the tables are strict about it."""
    if isinstance(value, list):
        return tuple(_tuples(each) for each in value)
    return {key: _tuples(each) for key, each in value.items()} if isinstance(value, dict) else value


def _recipe(parsed: RecipeTable, text: str, where: str, known: Places) -> Recipe:
    name = parsed.name or PurePath(where).stem
    digest = sha256(text.encode()).hexdigest()
    classes = tuple(
        ClassSpec(
            ClassName(each.name), each.signal, each.action, each.budget, each.severity, each.advice, each.pitfall, name
        )
        for each in parsed.class_
    )
    actions = {str(spec.name): spec.action for spec in (*BUILT_IN, *classes)}
    return Recipe(
        name=name,
        description=parsed.description,
        classes=classes,
        reasons=tuple(_reason(each, actions) for each in parsed.reason),
        rules=tuple(each.rule(name) for each in parsed.rule),
        heals=tuple(heal_recipe(each, pack=name, digest=digest) for each in parsed.heal),
        content_hash=digest,
        where=where,
        places=known,
    )


def _reason(table: ReasonTable, actions: Mapping[str, Action]) -> ReasonSpec:
    # What another file's class does is not known here; a pause is never the wrong thing to do.
    action = table.action or actions.get(table.class_, Action.PAUSE)
    return ReasonSpec(ClassName(table.class_), table.name, table.summary, table.hint, action)


def _example(value: str | dict[str, Any]) -> Example:
    evidence = {"message": value} if isinstance(value, str) else value
    return Example(json.dumps(evidence, sort_keys=True, ensure_ascii=False, default=str))


def _told(error: ErrorDetails, where: str, known: Places) -> FileFault:
    """Turn one of pydantic's errors into a fault for people: where, what was expected, what came."""
    # Branches of a union are pydantic's business, not a place in the file.
    *parts, last = error["loc"] or ("",)
    path = tuple(part for part in parts if isinstance(part, int) or part in _KEYS)
    if last not in ("str", "dict[str,any]", ""):
        path = (*path, last)
    if error["type"] == "extra_forbidden":
        message = _unknown_key(path)
    elif error["type"] == "missing":
        message = "is missing"
    elif error["type"] == "value_error":
        message = error["msg"].removeprefix("Value error, ")
    else:
        message = f"{error['msg'][:1].lower()}{error['msg'][1:]}, got {_shown(error['input'])}"
    return FileFault(where, line_of(known, path), dotted(path), message)


def _unknown_key(path: KeyPath) -> str:
    table = next((str(part) for part in reversed(path[:-1]) if isinstance(part, str)), "")
    names = [field.alias or name for name, field in _TABLES[table].model_fields.items()] if table in _TABLES else []
    near = get_close_matches(str(path[-1]), names, n=1, cutoff=0.6)
    return "is no key of this table" + (f"; did you mean {near[0]}?" if near else f"; it knows {', '.join(names)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _faulty_names(
    raw: dict[str, Any],
    where: str,
    known: Places,
    classes: frozenset[str],
    reasons: frozenset[tuple[str, str]],
) -> Iterator[FileFault]:
    """Yield classes and reasons that nothing declares, and slugs that stand twice."""

    def told(table: str, index: int, key: str, message: str) -> FileFault:
        path = (table, index, key)
        return FileFault(where, line_of(known, path), dotted(path), message)

    for table in ("reason", "rule", "heal"):
        for index, row in enumerate(_rows(raw, table)):
            class_ = row.get("class")
            if isinstance(class_, str) and class_ not in classes:
                yield told(table, index, "class", _no_such("class", class_, classes))
            elif isinstance(class_, str) and table != "reason":
                fitting = {name for owner, name in reasons if owner == class_}
                for key, name in _named_reasons(row):
                    if name not in fitting:
                        yield told(table, index, key, _no_such(f"reason of class {class_}", name, fitting))
    for table in ("rule", "heal"):
        first: dict[str, int] = {}
        for index, row in enumerate(_rows(raw, table)):
            slug = row.get("slug")
            if isinstance(slug, str) and slug in first:
                line = line_of(known, (table, first[slug], "slug"))
                yield told(table, index, "slug", f"{slug!r} is used in line {line} already")
            elif isinstance(slug, str):
                first[slug] = index


def _named_reasons(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the reasons that a rule or a heal names, each with the key that names it."""
    listed = row.get("reasons")
    named = [
        ("reason", row.get("reason")),
        *(("reasons", each) for each in (listed if isinstance(listed, list) else ())),
    ]
    yield from ((key, name) for key, name in named if isinstance(name, str))


def _rows(raw: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = raw.get(name)
    return [row if isinstance(row, dict) else {} for row in rows] if isinstance(rows, list) else []


def _no_such(kind: str, name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1, cutoff=0.5)
    known_names = ", ".join(sorted(known))
    return f"there is no {kind} named {name!r}" + (
        f"; did you mean {near[0]}?" if near else f"; there are {known_names}"
    )
