"""The reader of recipe files: TOML in, values out, every fault of a file told at once with its line.

Which files exist is the business of `rerail.recipes.read`, and what they make together that of `rerail.recipes.assemble`.
"""

from __future__ import annotations

from difflib import get_close_matches
from hashlib import sha256
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from rerail.errors import FileFault, RecipeError
from rerail.ids import ClassName
from rerail.recipes.heal_schema import HealTable, heal_recipe
from rerail.recipes.model import Recipe
from rerail.recipes.tables import ClassTable, MatcherTable, ReasonTable, RecipeTable, RuleTable
from rerail.taxonomy import BUILT_IN
from rerail.taxonomy.actions import Action
from rerail.taxonomy.law import RETRY_SEVERITY
from rerail.taxonomy.model import ClassSpec, ReasonSpec
from rerail.toml_lines import dotted, line_of, parse_toml, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

    from rerail.toml_lines import KeyPath, Places

_DEFAULT_SEVERITY = 55
"""Between the built-in classes that repair and those that only pause or stop."""

_TABLES: dict[str, type[BaseModel]] = {
    "": RecipeTable,
    "class": ClassTable,
    "reason": ReasonTable,
    "rule": RuleTable,
    "any": MatcherTable,
    "heal": HealTable,
}
_KEYS = frozenset(field.alias or name for table in _TABLES.values() for name, field in table.model_fields.items())


def declared(files: Iterable[Mapping[str, Any]]) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    """Return all classes, and all (class, reason) pairs, that exist with these recipe files, whose TOML was read."""
    classes = {str(spec.name) for spec in BUILT_IN}
    reasons = {(str(spec.name), reason.name) for spec in BUILT_IN for reason in BUILT_IN.reasons(spec.name)}
    for raw in files:
        classes |= {str(row.get("name")) for row in _rows(raw, "class")}
        reasons |= {(str(row.get("class")), str(row.get("name"))) for row in _rows(raw, "reason")}
    return frozenset(classes), frozenset(reasons)


def read_recipe(text: str, where: str) -> Recipe:
    """Read one recipe file, which may name the built-in classes and reasons, and its own.

    Args:
        text: The file's text.
        where: The file, as faults should name it; its stem is the recipe's name unless the file gives one.

    Raises:
        RecipeError: The file has faults; all of them are told, in the order of their lines.
    """
    raw = parse_toml(text, where, RecipeError)
    classes, reasons = declared([raw])
    return recipe_of(raw, text, where, known_classes=classes, known_reasons=reasons)


def recipe_of(
    raw: Mapping[str, Any],
    text: str,
    where: str,
    *,
    known_classes: frozenset[str],
    known_reasons: frozenset[tuple[str, str]],
) -> Recipe:
    """Read one recipe file among others.

    Args:
        raw: What TOML makes of it.
        text: The file's text.
        where: As `read_recipe`.
        known_classes: Every class that may be named.
        known_reasons: Every (class, reason) pair that may be named.

    Raises:
        RecipeError: As `read_recipe`.
    """
    known = places(text)
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
            ClassName(each.name),
            each.signal,
            each.action,
            each.budget,
            _severity(each),
            each.advice,
            each.pitfall,
            name,
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
        heals=tuple(heal_recipe(each, pack=name, digest=digest, file=where) for each in parsed.heal),
        content_hash=digest,
        where=where,
        places=known,
    )


def _severity(table: ClassTable) -> int:
    if table.severity is not None:
        return table.severity
    return RETRY_SEVERITY if table.action is Action.RETRY else _DEFAULT_SEVERITY


def _reason(table: ReasonTable, actions: Mapping[str, Action]) -> ReasonSpec:
    # What another file's class does is not known here; a pause is never the wrong thing to do.
    action = table.action or actions.get(table.class_, Action.PAUSE)
    return ReasonSpec(ClassName(table.class_), table.name, table.summary, table.hint, action)


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
    raw: Mapping[str, Any],
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


def _rows(raw: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    rows = raw.get(name)
    return [row if isinstance(row, dict) else {} for row in rows] if isinstance(rows, list) else []


def _no_such(kind: str, name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1, cutoff=0.5)
    known_names = ", ".join(sorted(known))
    return f"there is no {kind} named {name!r}" + (
        f"; did you mean {near[0]}?" if near else f"; there are {known_names}"
    )
