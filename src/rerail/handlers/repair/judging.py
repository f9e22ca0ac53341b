"""The judges: what a schema finds wrong with a value, as complaints.

A JSON Schema is applied by jsonschema: the dialect that ``$schema`` names, else Draft 2020-12; formats are not asserted; a
reference to another document is never fetched, and what needs it cannot be judged. A pydantic model judges by itself, in its own
mode, strict or lax, as its user's ``model_validate`` does.

Schemas come from tool servers too. Judging ends after `MAX_STEPS` keywords; patterns are matched in linear time by the engine
that pydantic brings, and those that it does not know (they look around) only where they are harmless.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from rerail.handlers.repair import phrases, records
from rerail.handlers.repair.model import Complaint, Kind
from rerail.handlers.repair.tree import copied
from rerail.rules.patterns import fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema.exceptions import ValidationError

    from rerail.handlers.repair.tree import Place

Judge: TypeAlias = Callable[[Any], tuple[Complaint, ...]]
"""Returns what is wrong with a value; raises `UnjudgedError` when that cannot be known."""

MAX_STEPS = 100_000
"""Keywords that one judge applies in its life, which is one proposal: a second or two."""

_MAX_COMPLAINTS = 200
_MAX_MATCHED = 1_000
"""Longest text that Python's own engine matches; `rules.patterns` reckons with about that."""
_MAX_UNIQUE = 300
"""Most items that are compared with one another, each with each."""

_Check: TypeAlias = Callable[[Any, Any, Any, Any], Any]
"""How jsonschema applies one keyword: validator, keyword's value, instance, schema."""


class UnjudgedError(Exception):
    """The schema cannot be used, or not within bounds: nothing is known of the value."""


def judge_of_model(validate: Callable[[Any], object]) -> Judge:
    """Return the judge of a pydantic model's ``model_validate`` or an adapter's ``validate_python``."""

    def judge(value: Any) -> tuple[Complaint, ...]:
        try:
            # A copy: validators in "before" mode may change what they are given.
            validate(copied(value))
        except Exception as error:  # validators are the user's code
            errors = getattr(error, "errors", None)
            if not callable(errors):
                raise UnjudgedError(f"the model's validator failed: {type(error).__name__}") from error
            return tuple(islice(records.of_pydantic(errors()), _MAX_COMPLAINTS)) or (Complaint(Kind.OTHER, ()),)
        return ()

    return judge


def judge_of_document(schema: object) -> tuple[Any, Judge]:
    """Return a JSON Schema as a plain value, and its judge.

    Raises:
        UnjudgedError: It is no valid schema, too large, or has a pattern that is refused.
    """
    try:
        document = copied(schema)
        validator = _validator(document)
    except UnjudgedError:
        raise
    except Exception as error:  # a schema is data from anywhere, and jsonschema fails on it in many ways
        raise UnjudgedError(f"not a usable schema: {type(error).__name__}") from error

    def judge(value: Any) -> tuple[Complaint, ...]:
        try:
            errors = islice(validator.iter_errors(value), _MAX_COMPLAINTS)
            return tuple(complaint for error in errors for complaint in _complaints(error))
        except UnjudgedError:
            raise
        except Exception as error:  # references that lead nowhere, endless recursion
            raise UnjudgedError(f"the schema cannot be applied: {type(error).__name__}") from error

    return document, judge


def _validator(document: Any) -> Any:
    from jsonschema import Draft202012Validator, validators
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    if not isinstance(document, dict | bool):
        raise UnjudgedError("a schema is a mapping")
    _check_keys(document)
    dialect: Any = validators.validator_for(document, default=Draft202012Validator)
    dialect.check_schema(document, format_checker=None)
    steps = iter(range(MAX_STEPS))
    checks = {name: _counted(check, steps) for name, check in dialect.VALIDATORS.items()}
    checks["pattern"] = _counted(_check_pattern, steps)
    checks["uniqueItems"] = _limited(checks["uniqueItems"])
    # jsonschema's own registry would fetch what it does not know.
    extend: Any = validators.extend
    return extend(dialect, checks)(document, registry=REGISTRY)


def _check_keys(node: Any) -> None:
    """Refuse a schema that declares fields by a pattern which some name would take forever over.

    Raises:
        UnjudgedError: There is one, or one of another dialect of regular expressions.
    """
    keyed = node.get("patternProperties") if isinstance(node, dict) else None
    if isinstance(keyed, dict) and any(fault(pattern) for pattern in keyed):
        raise UnjudgedError("a pattern of names that is refused")
    for item in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _check_keys(item)


def _check_pattern(_: Any, wanted: Any, value: Any, __: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not _matcher(wanted)(value):
        yield ValidationError("does not match its pattern")


@functools.lru_cache(maxsize=256)
def _matcher(pattern: str) -> Callable[[str], bool]:
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")).isinstance_python
    except SchemaError as error:
        if fault(pattern):
            raise UnjudgedError("a pattern that is refused") from error

    def matches(text: str) -> bool:
        if len(text) > _MAX_MATCHED:
            raise UnjudgedError("a text too long to be matched")
        return re.search(pattern, text) is not None

    return matches


def _counted(check: _Check, steps: Iterator[int]) -> _Check:
    def counted(validator: Any, wanted: Any, value: Any, schema: Any) -> Any:
        if next(steps, None) is None:
            raise UnjudgedError("the schema takes too many steps")
        return check(validator, wanted, value, schema)

    return counted


def _limited(check: _Check) -> _Check:
    def limited(validator: Any, wanted: Any, value: Any, schema: Any) -> Any:
        if isinstance(value, list) and len(value) > _MAX_UNIQUE:
            raise UnjudgedError("too many items to compare, each with each")
        return check(validator, wanted, value, schema)

    return limited


def _complaints(error: ValidationError) -> list[Complaint]:
    """Return the complaints of one error; what no repair deals with is still a complaint."""
    place: Place = tuple(error.absolute_path)
    wanted: Any = error.validator_value
    instance: Any = error.instance
    match error.validator:
        case "required":
            return [Complaint(Kind.MISSING, (*place, name)) for name in wanted if name not in instance]
        case "dependentRequired":
            needed = {name for field, names in wanted.items() if field in instance for name in names}
            return [Complaint(Kind.MISSING, (*place, name)) for name in sorted(needed - set(instance))]
        case "type":
            return [Complaint(Kind.TYPE, place, expected=(wanted,) if isinstance(wanted, str) else tuple(wanted))]
        case "enum":
            return [Complaint(Kind.VALUE, place, allowed=tuple(wanted))]
        case "const":
            return [Complaint(Kind.VALUE, place, allowed=(wanted,))]
        case "additionalProperties" if wanted is False:
            return [Complaint(Kind.UNKNOWN, (*place, name)) for name in _undeclared(error.schema, instance)]
        case "unevaluatedProperties" if wanted is False:
            return list(phrases.read(error.message, place)) or [Complaint(Kind.OTHER, place)]
        case "anyOf" | "oneOf" if error.context:
            return _of_choice(error, place)
        case _:
            return [Complaint(Kind.OTHER, place)]


def _undeclared(schema: Any, instance: Any) -> Iterator[str]:
    declared, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name in instance:
        if name not in declared and not any(re.search(pattern, name) for pattern in patterns):
            yield name


def _of_choice(error: ValidationError, place: Place) -> list[Complaint]:
    """Return the complaints of the one branch that is meant; where that is not certain, the types and values of all of them.

    A branch is not meant when it asks for another type or fixes a field to another value (``"kind": {"const": "a"}``).
    """
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    meant = [branch for branch in branches.values() if not any(map(_rules_out, branch))]
    if len(meant) == 1:
        return [complaint for inner in meant[0] for complaint in _complaints(inner)]
    own = [
        each for branch in branches.values() for inner in branch for each in _complaints(inner) if each.place == place
    ]
    types = tuple(dict.fromkeys(name for each in own if each.kind is Kind.TYPE for name in each.expected))
    values = tuple(value for each in own if each.kind is Kind.VALUE for value in each.allowed)
    if meant or not (types or values):
        return [Complaint(Kind.OTHER, place)]
    found = [Complaint(Kind.TYPE, place, expected=types)] if types else []
    return [*found, Complaint(Kind.VALUE, place, allowed=values)] if values else found


def _rules_out(inner: ValidationError) -> bool:
    depth = len(inner.relative_path)
    if inner.validator == "type":
        return depth == 0
    wanted: Any = inner.validator_value
    is_fixed = inner.validator == "const" or (inner.validator == "enum" and len(wanted) == 1)
    return is_fixed and depth <= 1
