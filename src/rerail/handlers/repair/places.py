"""Places in words: how validators write the way to a value, and how rerail writes it back.

``items[0].id``, ``items.0.id``, ``/items/0/id``, ``$.items[0]``, ``['items'][0]['id']`` and ``data/items/0`` are all read. The
text is hostile: reading is linear and bounded, and what is shown has no control characters.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from rerail.handlers.repair.tree import ABSENT, at

if TYPE_CHECKING:
    from typing import Any

    from rerail.handlers.repair.tree import Place

MAX_STEPS = 32
"""Names and indexes in one place; a longer one is not read."""

_MAX_CHARS = 400

WRAPPERS = frozenset(
    {
        *("args", "arguments", "body", "data", "input", "instance", "json", "kwargs", "params", "parameters"),
        *("payload", "properties", "query", "request", "root", "tool_input", "toolInput", "value"),
    }
)
"""What validators put before the input's own fields: FastAPI's ``body``, ajv's ``data``, botocore's ``input``."""

_STEP = re.compile(
    r"""\.? (?: \[ (?: (?P<index>\d{1,6}) | '(?P<single>[^'\]]*)' | "(?P<double>[^"\]]*)" | (?P<bare>[^\]'"\[]+) ) \]
          | (?P<name>[^.\[\]/]+) )""",
    re.VERBOSE,
)
_PLAIN = re.compile(r"[A-Za-z_$@][\w$@-]{0,63}", re.ASCII)


def place_of(text: str) -> Place | None:
    """Return the place that *text* writes, ``()`` for the root; None when it writes none."""
    text = text.strip().strip("`").strip()
    if len(text) > _MAX_CHARS:
        return None
    # jsonschema and voluptuous write data['a'][0]; the quotes around a whole path are only quotes.
    if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]:
        text = text[1:-1]
    if text.startswith(("/", "#")):
        return _pointed(text.lstrip("#"))
    text = text.removeprefix("$").rstrip(":.,")
    if "/" in text and "[" not in text:
        return _pointed("/" + text)
    steps: list[str | int] = []
    end = 0
    while end < len(text):
        found = _STEP.match(text, end)
        if found is None or len(steps) >= MAX_STEPS:
            return None
        end = found.end()
        word = found[found.lastgroup or 0]
        steps.append(int(word) if re.fullmatch(r"[0-9]{1,6}", word) else word)
    return tuple(steps)


def _pointed(text: str) -> Place | None:
    words = text.split("/")[1:] if text else []
    if len(words) > MAX_STEPS:
        return None
    return tuple(
        int(word) if re.fullmatch(r"[0-9]{1,6}", word) else word.replace("~1", "/").replace("~0", "~") for word in words
    )


class Placed(NamedTuple):
    """Where a written place leads."""

    place: Place
    members: tuple[tuple[Place, str], ...] = ()
    """The names of union members that were written on the way, each with the place of the union."""


def placed(root: Any, place: Place, *, may_be_absent: bool = False, tagged: bool = False) -> Placed | None:
    """Fit a place that a validator wrote to *root*: all of it must exist there; None when it does not.

    Args:
        root: The input.
        place: As it was written, possibly with wrappers before the input's own names.
        may_be_absent: The last step may be missing from its object.
        tagged: The validator also writes names of union members (pydantic's ``v.Dog.name``). A step that is not there is then
            such a name, for a field within an absent one is never judged.
    """
    for start in range(len(place) + 1):
        if start and place[start - 1] not in WRAPPERS:
            return None
        fitted = _fitted(root, place[start:], may_be_absent, tagged)
        if fitted is not None:
            return fitted
    return None


def _fitted(root: Any, place: Place, may_be_absent: bool, tagged: bool) -> Placed | None:
    fitted: Place = ()
    members: list[tuple[Place, str]] = []
    for position, written in enumerate(place):
        here = at(root, fitted)
        # ``items.0`` may mean a field that is called "0".
        step = str(written) if isinstance(here, dict) else written
        is_last = position == len(place) - 1
        if at(here, (step,)) is not ABSENT or (may_be_absent and is_last and isinstance(here, dict)):
            fitted = (*fitted, step)
        elif not tagged:
            return None
        elif written not in WRAPPERS:
            members.append((fitted, str(written)))
    return Placed(fitted, tuple(members))


def shown(name: str) -> str:
    """Return a name for people: as it is when it looks like one, else quoted, escaped and clipped."""
    return name if _PLAIN.fullmatch(name) else json.dumps(name[:64])


def show(place: Place) -> str:
    """Return a place for people: ``items[0].id``; ``the input`` for the root."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{shown(step)}" for step in place)
    return text.removeprefix(".") or "the input"


def key_of(place: Place) -> str:
    """Return the dotted path under which a declared context names *place*: ``items.0.id``."""
    return ".".join(map(str, place))
