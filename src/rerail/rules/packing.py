"""Plain data packed so that what a process does not look at costs it nothing: unpacked one by one, when it is asked for.

Marshal data, which loads ten times as fast as JSON. Only for data of our own: see `rerail.kept`, which knows them by their check
sum.
"""

from __future__ import annotations

import marshal
from binascii import crc32
from struct import pack, unpack_from

from rerail.kept import MARSHAL_FORMAT
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, TypeAlias

    Packed: TypeAlias = bytes | memoryview

_SHELVED = 4
"""How many entries share a shelf, on average: all of one are unpacked for any of them."""


def packed(value: Any) -> bytes:
    """Return plain data as marshal data that every supported Python reads."""
    return marshal.dumps(value, MARSHAL_FORMAT)


def unpacked(data: Packed) -> Any:
    """Return what `packed` was given."""
    return marshal.loads(data)  # noqa: S302


class Rows:
    """A sequence of plain values, packed.

    Args:
        data: What `pack_rows` made.
    """

    def __init__(self, data: Packed) -> None:
        self._data = memoryview(data)
        self._count: int = unpack_from("<I", data)[0]

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> Any:
        """Return the value at *place*, which is counted from 0."""
        start, end = unpack_from("<2I", self._data, 4 + 4 * place)
        return unpacked(self._data[start:end])

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))


def pack_rows(values: Iterable[object]) -> bytes:
    """Return *values* as `Rows` takes them: how many there are, where each begins and the last one ends, and all of them."""
    rows = [packed(value) for value in values]
    places = [8 + 4 * len(rows)]
    for row in rows:
        places.append(places[-1] + len(row))
    return b"".join((pack(f"<{1 + len(places)}I", len(rows), *places), *rows))


class Shelves:
    """A mapping of texts to plain values, packed; a text's check sum tells the shelf on which its entry lies.

    Args:
        data: What `pack_shelves` made.
    """

    def __init__(self, data: Packed) -> None:
        self._shelves = Rows(data)

    def get(self, key: str, default: Any) -> Any:
        """Return the value of *key*, or *default*."""
        return self._shelves[_shelf(key, len(self._shelves))].get(key, default)


def pack_shelves(entries: Mapping[str, object]) -> bytes:
    """Return *entries* as `Shelves` takes them."""
    shelves: list[dict[str, object]] = [{} for _ in range(len(entries) // _SHELVED + 1)]
    for key, value in sorted(entries.items()):
        shelves[_shelf(key, len(shelves))][key] = value
    return pack_rows(shelves)


def _shelf(key: str, shelves: int) -> int:
    return crc32(key.encode("utf-8", "surrogatepass")) % shelves
