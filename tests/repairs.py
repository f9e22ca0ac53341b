"""Rejected inputs for tests: requests as a runner builds them, and schemas with inputs that fit and inputs that were broken."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.strategies import UNIT, classification

from rerail.evidence.clip import clip_stream
from rerail.evidence.model import Evidence, Source, StreamName
from rerail.handlers.repair import Proposal, RepairRequest, propose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def request(
    sent: object,
    message: str = "",
    *,
    schema: object = None,
    context: Mapping[str, object] | None = None,
    reason: str = "tool-schema/bad-request",
    stream: StreamName = StreamName.MESSAGE,
) -> RepairRequest:
    """A request of one message."""
    evidence = Evidence(Source.TEXT, streams=(clip_stream(stream, message),))
    return RepairRequest(UNIT, sent, classification(reason), evidence, schema, context or {})


def repaired(sent: object, message: str = "", **more: Any) -> Any:
    """The repaired input, or None."""
    proposal = propose(request(sent, message, **more))
    return proposal.input if proposal else None


def changes(sent: object, message: str = "", **more: Any) -> tuple[str, ...]:
    """What the repair says it does."""
    proposal = propose(request(sent, message, **more))
    return proposal.changes if proposal else ()


def accepts(schema: Any, value: Any) -> bool:
    """Whether jsonschema, used plainly, accepts the value."""
    return bool(Draft202012Validator(schema).is_valid(value))


def words_of_jsonschema(schema: Any, value: Any) -> str:
    """What jsonschema says of a rejected value, the first error as a traceback would show it."""
    return str(next(iter(Draft202012Validator(schema).iter_errors(value)), ""))


class Broken(NamedTuple):
    """An input that was right, and the same one broken in one place."""

    schema: dict[str, Any]
    right: dict[str, Any]
    sent: Any
    context: dict[str, Any]
    how: str


# Far apart in spelling, so that each name is itself only.
NAMES = ("workspace_id", "page_size", "dry_run_mode", "labelNames", "due-date", "retries", "Owner", "assignee_email")
WORDS = ("open", "in_progress", "Closed", "high", "low-priority", "none")

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_whole = st.integers(-(2**53) + 1, 2**53 - 1)


def fields() -> st.SearchStrategy[tuple[dict[str, Any], Any]]:
    """A schema of one field, and a value that fits it."""
    leaf = st.one_of(
        st.tuples(st.just({"type": "string"}), _texts),
        st.tuples(st.just({"type": "integer"}), _whole),
        st.tuples(st.just({"type": "boolean"}), st.booleans()),
        st.tuples(st.just({"type": "number"}), st.floats(-1e6, 1e6).map(lambda number: round(number, 3) + 0.5)),
        st.tuples(st.just({"enum": list(WORDS)}), st.sampled_from(WORDS)),
        st.tuples(st.just({"anyOf": [{"type": "integer"}, {"type": "null"}]}), _whole),
    )
    lists = leaf.flatmap(
        lambda pair: st.tuples(st.just({"type": "array", "items": pair[0]}), st.lists(st.just(pair[1]), max_size=3))
    )
    return leaf | lists


def objects(inner: st.SearchStrategy[tuple[dict[str, Any], Any]]) -> st.SearchStrategy[tuple[dict[str, Any], Any]]:
    """A schema of an object, and one that has all its fields; each field is required."""
    return st.tuples(
        st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=4), st.sampled_from((True, False, None))
    ).map(_object)


def _object(drawn: tuple[dict[str, tuple[dict[str, Any], Any]], bool | None]) -> tuple[dict[str, Any], Any]:
    pairs, additional = drawn
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: pair[0] for name, pair in pairs.items()},
        "required": list(pairs),
    }
    if additional is not None:
        schema["additionalProperties"] = additional
    return schema, {name: pair[1] for name, pair in pairs.items()}


SCHEMAS = objects(fields() | objects(fields()))
"""Objects of fields and of objects."""


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a value but its root."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [deep for step, item in steps for deep in ((*place, step), *places(item, (*place, step)))]


def edited(value: Any, place: tuple[Any, ...], edit: Callable[[Any, Any], None]) -> Any:
    """A copy of *value* after ``edit(parent, step)``."""
    copy = json.loads(json.dumps(value))
    parent = copy
    for step in place[:-1]:
        parent = parent[step]
    edit(parent, place[-1])
    return copy


def _look_up(value: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        value = value[step]
    return value


def _put(value: Any) -> Callable[[Any, Any], None]:
    def put(parent: Any, step: Any) -> None:
        parent[step] = value

    return put


def _rename(name: str) -> Callable[[Any, Any], None]:
    def rename(parent: Any, step: Any) -> None:
        parent[name] = parent.pop(step)

    return rename


def _drop(parent: Any, step: Any) -> None:
    del parent[step]


def _spellings(name: str) -> list[str]:
    plain = name.replace("-", "_")
    first, *rest = plain.split("_")
    camel = first + "".join(part.capitalize() for part in rest)
    return [each for each in (camel, plain.upper(), plain.replace("_", "-"), plain) if each != name]


def breakages(schema: dict[str, Any], right: dict[str, Any]) -> list[Broken]:
    """Every way to break *right* in one place that has one way back."""
    broken: list[Broken] = []
    for place in places(right):
        value = _look_up(right, place)
        dotted = ".".join(map(str, place))

        def breaks(how: str, edit: Callable[[Any, Any], None], context: dict[str, Any], at: Any = place) -> None:
            broken.append(Broken(schema, right, edited(right, at, edit), context, f"{how} {'.'.join(map(str, at))}"))

        if isinstance(place[-1], str):
            breaks("drop", _drop, {dotted: value})
            for spelling in _spellings(place[-1]):
                breaks(f"spell {spelling}", _rename(spelling), {})
        if isinstance(value, bool | int):
            breaks("stringify", _put(json.dumps(value)), {})
        elif isinstance(value, float):
            breaks("stringify", _put(repr(value)), {})
        elif isinstance(value, dict) or (isinstance(value, list) and value):
            breaks("stringify", _put(json.dumps(value)), {})
        if isinstance(value, str) and value in WORDS:
            breaks("shout", _put(value.upper() if value != value.upper() else value.lower()), {})
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], bool | int):
            breaks("unwrap", _put(value[0]), {})
    text = json.dumps(right)
    for how, sent in (
        ("trailing comma", text[:-1] + ",}"),
        ("fence", f"```json\n{text[:-1]},}}\n```"),
        ("python", repr(right)),
        ("string", text),
    ):
        broken.append(Broken(schema, right, sent, {}, how))
    return [each for each in broken if not accepts(schema, each.sent)]


def proposal_of(broken: Broken, message: str) -> Proposal | None:
    """What is proposed for a broken input."""
    return propose(request(broken.sent, message, schema=broken.schema, context=broken.context))
