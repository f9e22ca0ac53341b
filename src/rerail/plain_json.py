"""JSON read and written with what `json` itself is made of, without what importing `json` costs a hook: half of it is `re`.

Reads and writes exactly what `json` does; whatever is not plain, a fault in the text included, is left to `json`.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING

try:
    from _json import encode_basestring as quoted
    from _json import encode_basestring_ascii as quoted_in_ascii
    from _json import make_scanner as _make_scanner
except ImportError:  # not CPython
    from json.encoder import encode_basestring as quoted
    from json.encoder import encode_basestring_ascii as quoted_in_ascii
    from json.scanner import py_make_scanner as _make_scanner  # type: ignore[attr-defined, no-redef]

__all__ = ["parse", "quoted", "quoted_in_ascii", "text_of"]

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

_BLANKS = " \t\n\r"
_WORDS = {None: "null", True: "true", False: "false"}


def parse(text: str) -> Any:
    """Return what a JSON text says.

    Raises:
        ValueError: It is none.
        RecursionError: It is nested too deeply.
    """
    start = len(text) - len(text.lstrip(_BLANKS))
    try:
        value, end = _scan(text, start)
        if not text[end:].strip(_BLANKS):
            return value
    except (StopIteration, ValueError, SystemError):
        pass  # a SystemError: what it would raise is defined in `json.decoder`, which nobody has imported
    import json  # which says best what is wrong

    return json.loads(text)


def text_of(value: object, comma: str = ", ", colon: str = ": ") -> str:
    """Return a value as one line of JSON in ASCII.

    Args:
        value: Of what JSON has: objects, lists, texts, numbers, true, false and null.
        comma: What stands between two items.
        colon: What stands between a key and its value.

    Raises:
        TypeError: It holds something else.
        ValueError: It holds a number that JSON has no form for.
        RecursionError: It is nested too deeply.
    """
    if isinstance(value, str):
        return quoted_in_ascii(value)
    if isinstance(value, dict):
        items = [f"{quoted_in_ascii(key)}{colon}{text_of(item, comma, colon)}" for key, item in value.items()]
        return "{" + comma.join(items) + "}"
    if isinstance(value, list | tuple):
        return "[" + comma.join([text_of(item, comma, colon) for item in value]) + "]"
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, float):
        if value - value != 0:
            raise ValueError(f"JSON has no form for {value}")
        return float.__repr__(value)
    return int.__repr__(value)


class _Settings:
    """What the scanner asks of a `json.JSONDecoder`: the ones that `json.loads` has."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__


_scan = _make_scanner(_Settings)  # type: ignore[arg-type]  # typeshed has the scanner's own type there
