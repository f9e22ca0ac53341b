"""What a column of a durable store holds - compact JSON, printable text, numbers - and its strict reading.

Damaged state counts as spent, so nothing is read as something near to it: each reader returns what it was given, in its type, or
raises `ValueError`, and `read` turns that into the ledger's own error. Standard library only: a hook spends through here.
"""

from __future__ import annotations

from rerail.errors import LedgerError
from rerail.light_typing import TYPE_CHECKING, TypeVar
from rerail.plain_json import parse, quoted_in_ascii, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

T = TypeVar("T")

_SHOWN_CHARS = 80


def read(what: str, reader: Callable[[Any], T], value: object) -> T:
    """Return what *reader* makes of a stored value.

    Args:
        what: What was stored, for people: ``"run state"``.
        reader: Raises `ValueError` or `KeyError` for anything else.
        value: What the column gave.

    Raises:
        LedgerError: It is not what was stored.
    """
    try:
        return reader(value)
    except (KeyError, ValueError, RecursionError) as error:
        raise LedgerError(
            f"a stored {what} cannot be read, and counts as spent: {error}",
            hint="restore the ledger from a backup, or move it away yourself to begin with an empty one",
        ) from error


def to_json(value: object) -> str:
    """Return compact JSON in ASCII: no text that a failure brings can upset a column or a terminal."""
    try:
        return text_of(value, ",", ":")
    except (TypeError, ValueError):
        import json  # which has a form for more than is plain

        return json.dumps(value, separators=(",", ":"))


def from_json(stored: object) -> Any:
    """Return the value of a stored JSON text."""
    return parse(text(stored))


def to_text(value: str) -> str:
    """Return text that any database can hold and any terminal can show.

    A path or an argument need not be UTF-8, and a note may hold anything; what is not printable is kept as a JSON string.
    """
    return value if value.isprintable() and not value.startswith('"') else quoted_in_ascii(value)


def from_text(stored: object) -> str:
    """Return the text that `to_text` was given."""
    value = text(stored)
    return text(parse(value)) if value.startswith('"') else value


def fields(value: object, names: str) -> Sequence[object]:
    """Return the values of an object that has exactly the keys in *names*, in their order."""
    keys = names.split()
    if not isinstance(value, dict) or value.keys() != set(keys):
        raise ValueError(f"expected an object of {', '.join(keys)}; got {_shown(value)}")
    return [value[key] for key in keys]


def text(value: object) -> str:
    """Return a string."""
    if isinstance(value, str):
        return value
    raise ValueError(f"expected text, got {_shown(value)}")


def number(value: object) -> float:
    """Return a number; true and false are none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    raise ValueError(f"expected a number, got {_shown(value)}")


def count(value: object) -> int:
    """Return a whole number that is not negative."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f"expected a whole number >= 0, got {_shown(value)}")


def truth(value: object) -> bool:
    """Return true or false."""
    if isinstance(value, bool):
        return value
    raise ValueError(f"expected true or false, got {_shown(value)}")


def maybe(reader: Callable[[object], T], value: object) -> T | None:
    """Return None for null, else what *reader* makes of the value."""
    return None if value is None else reader(value)


def each(reader: Callable[[object], T], value: object) -> tuple[T, ...]:
    """Return what *reader* makes of every entry of a list."""
    if isinstance(value, list):
        return tuple(map(reader, value))
    raise ValueError(f"expected a list, got {_shown(value)}")


def mapping(value: object) -> dict[str, object]:
    """Return an object, whatever its keys."""
    if isinstance(value, dict):
        return value
    raise ValueError(f"expected an object, got {_shown(value)}")


def _shown(value: object) -> str:
    """Return a value quoted and clipped: what is damaged may hold anything."""
    quoted = ascii(value)
    return quoted if len(quoted) <= _SHOWN_CHARS else f"{quoted[:_SHOWN_CHARS]}..."
