"""Reads a TOML file that people write, and knows on which line everything in it stands: a fault without a line is a riddle.

`tomllib` reads the values and refuses what is not TOML. `places` walks the same text for its keys, tables and elements; it is no
second parser, for it may assume that the text is valid. What the keys mean is up to whoever reads the file.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left

from rerail.errors import FileFault
from rerail.light_typing import TYPE_CHECKING
from rerail.plain_file import read_plain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any, TypeAlias

    from rerail.errors import FileFaultsError

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys, and indices counted from 0: ``("rule", 1, "slug")``."""

Places: TypeAlias = "Mapping[KeyPath, int]"
"""The line, counted from 1, of every table, key and element."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*+")
_SCALAR = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{1,2})?'  # up to two quotes more belong to the string
    r"|'''.*?'''(?:'{1,2})?"
    r'|"(?:\\.|[^"\\])*+"'
    r"|'[^']*+'"
    r"|[^,\]}#\n]++",  # number, truth value, or date and time with a space between them
    re.DOTALL,
)
_KEY_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DOTTED = re.compile(rf"(?<![\w\"'-]){_KEY_PART}(?:[ \t]*+\.[ \t]*+{_KEY_PART})++")
MOST_DOTS = 100
"""In one key: `tomllib` takes quadratic time for them, and whoever can write a recipe could stop every command."""

_ERROR_LINE = re.compile(r"\(at line (\d+), column \d+\)")


def read_text(path: Path, where: str, kind: type[FileFaultsError]) -> str:
    """Return the text of a file that people write; a byte order mark is dropped.

    Args:
        path: The file.
        where: The file, as a fault should name it.
        kind: What to raise.

    Raises:
        FileFaultsError: It cannot be read, or is not UTF-8.
        FileNotFoundError: There is none.
    """
    try:
        return read_plain(path).decode("utf-8-sig")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise kind([FileFault(where, None, "", f"cannot be read: {error.strerror or error}")]) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise kind([FileFault(where, line, "", "is not UTF-8")]) from error


def parse_toml(text: str, where: str, kind: type[FileFaultsError]) -> dict[str, Any]:
    """Return the data of a TOML text.

    Raises:
        FileFaultsError: Of *kind*; it is not TOML.
    """
    import tomllib  # most processes find no file to read

    for found in _DOTTED.finditer(text):
        if found[0].count(".") > MOST_DOTS:
            line = text.count("\n", 0, found.start()) + 1
            raise kind([FileFault(where, line, "", f"a key has {MOST_DOTS} parts at most")])
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise kind([FileFault(where, None, "", "is nested too deeply")]) from error
    except ValueError as error:  # tomllib's own, and Python's for an integer of thousands of digits
        at = _ERROR_LINE.search(str(error))
        message = f"is not TOML: {_ERROR_LINE.sub('', str(error)).strip()}"
        raise kind([FileFault(where, int(at[1]) if at else None, "", message)]) from error


def places(text: str) -> Places:
    """Return where everything stands in *text*, which is valid TOML."""
    return _Walk(text).found


def line_of(known: Places, path: KeyPath) -> int | None:
    """Return the line of *path*, or of the innermost part of it that the file has; None when it has none of it."""
    return next((known[path[:length]] for length in range(len(path), 0, -1) if path[:length] in known), None)


def dotted(path: KeyPath) -> str:
    """Return a path as TOML writes it: ``units."verify:tests".effects``."""
    return ".".join(map(_written, path))


def _written(key: str | int) -> str:
    if isinstance(key, int) or _BARE_KEY.fullmatch(key):
        return str(key)
    return json.dumps(key, ensure_ascii=not key.isprintable())


class _Walk:
    def __init__(self, text: str) -> None:
        self.found: dict[KeyPath, int] = {}
        self._text = text
        self._at = 0
        self._line_ends = [match.start() for match in re.finditer("\n", text)]
        self._last_index: dict[KeyPath, int] = {}
        """Of every array of tables, the element that headers below it extend."""
        table: KeyPath = ()
        while not self._ends():
            table = self._header() if self._next() == "[" else self._key_and_value(table)

    def _header(self) -> KeyPath:
        line = self._line()
        is_array = self._text.startswith("[[", self._at)
        self._skip("[[" if is_array else "[")
        *parents, name = self._keys()
        self._skip("]]" if is_array else "]")
        table: KeyPath = ()
        for key in parents:
            table = self._enter((*table, key), line)
        if not is_array:
            return self._enter((*table, name), line)
        array = (*table, name)
        self.found.setdefault(array, line)
        self._last_index[array] = self._last_index.get(array, -1) + 1
        return self._enter(array, line)

    def _enter(self, table: KeyPath, line: int) -> KeyPath:
        """Return the path of a table that a header names: of an array of tables, its last element."""
        if table in self._last_index:
            table = (*table, self._last_index[table])
        self.found.setdefault(table, line)
        return table

    def _key_and_value(self, table: KeyPath) -> KeyPath:
        line = self._line()
        path = table
        for key in self._keys():
            path = (*path, key)
            self.found.setdefault(path, line)
        self._skip("=")
        self._value(path)
        return table

    def _value(self, path: KeyPath) -> None:
        match self._next():
            case "[":
                self._skip("[")
                index = 0
                while self._next() != "]":
                    self.found[*path, index] = self._line()
                    self._value((*path, index))
                    self._skip(",", optional=True)
                    index += 1
                self._skip("]")
            case "{":
                self._skip("{")
                while self._next() != "}":
                    self._key_and_value(path)
                    self._skip(",", optional=True)
                self._skip("}")
            case _:
                self._take(_SCALAR)

    def _keys(self) -> list[str]:
        """Take a key: one name, or several with dots between them."""
        keys = [self._key()]
        while self._next() == ".":
            self._skip(".")
            keys.append(self._key())
        return keys

    def _key(self) -> str:
        if self._next() not in "\"'":
            return self._take(_BARE_KEY)
        quoted = self._take(_SCALAR)
        if "\\" not in quoted:
            return quoted[1:-1]
        import tomllib

        unescaped: str = tomllib.loads(f"key = {quoted}")["key"]
        return unescaped

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        assert match is not None, "tomllib has read this text"
        self._at = match.end()
        return match[0]

    def _skip(self, mark: str, *, optional: bool = False) -> None:
        if self._next() == mark[0]:
            self._at += len(mark)
        else:
            assert optional, f"tomllib has read this text, and there is a {mark} in it"

    def _next(self) -> str:
        """Return the next character that says something, standing on it; ``""`` at the end."""
        self._take(_BLANK)
        return self._text[self._at : self._at + 1]

    def _ends(self) -> bool:
        return not self._next()

    def _line(self) -> int:
        """Return the line of the position, counted from 1."""
        return bisect_left(self._line_ends, self._at) + 1
