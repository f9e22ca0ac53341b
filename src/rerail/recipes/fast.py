"""The scanner of ``rerail[fast]``: hyperscan finds every text of every rule in one pass, 1 MB in 6 ms.

What it finds is what `RuleSet.present` would find: the same rules are asked, and give the same answers, with it and without.
Importing hyperscan and loading its database takes 30 ms, more than the whole classification of a hook; so it comes in when so
much text was scanned that this has paid, or when ``RERAIL_ENGINE`` says so.
"""

from __future__ import annotations

from rerail import kept
from rerail.errors import UsageError
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rerail.rules.compile import RuleSet

VARIABLE = "RERAIL_ENGINE"
"""The environment variable that chooses: ``fast``, ``default``, or nothing for what pays."""

WORTH_CHARS = 100_000
"""Characters in all from which on loading it pays."""


class FastScanner:
    """Stands in for the search of `RuleSet.present`, from the moment on from which that pays.

    Args:
        path: A file of the user's own for the database, which takes 0.2 s to make and 0.3 ms to load; None for none.
        at_once: Whether to load it for the first text, however short.
    """

    def __init__(self, path: str | None, *, at_once: bool) -> None:
        self._path = path
        self._left = 0 if at_once else WORTH_CHARS
        self._is_absent = False
        self._texts: Sequence[str] = ()
        self._database: Any = None
        self._lock: Any = None

    def __call__(self, low: str, rules: RuleSet) -> set[str] | None:
        """Return which texts of *rules* stand in *low*; None where the default search is to be used."""
        if self._database is None:
            self._left -= len(low)
            if self._left > 0 or self._is_absent or not self._load(rules.texts()):
                return None
        found: set[str] = set()
        add, texts = found.add, self._texts
        with self._lock:
            self._database.scan(
                low.encode("utf-8", "surrogatepass"), match_event_handler=lambda number, *_: add(texts[number])
            )
        return found

    def _load(self, texts: Sequence[str]) -> bool:
        """Load the database, or find out that there can be none."""
        hyperscan = _hyperscan()
        if hyperscan is None:
            self._is_absent = True
            return False
        import threading

        key = kept.digest(hyperscan.__version__.encode(), "\n".join(texts).encode())
        parts = None if self._path is None else kept.read(self._path, key)
        try:
            database = None if parts is None else hyperscan.loadb(bytes(parts["database"]), hyperscan.HS_MODE_BLOCK)
        except (hyperscan.error, TypeError, LookupError):
            database = None  # made on another processor, or of another shape
        if database is None:
            database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
            database.compile(
                expressions=[text.encode() for text in texts],
                ids=list(range(len(texts))),
                flags=hyperscan.HS_FLAG_SINGLEMATCH,
                literal=True,
            )
            if self._path is not None:
                kept.write(self._path, key, {"database": hyperscan.dumpb(database)})
        database.scratch = hyperscan.Scratch(database)
        # One scan at a time: the scratch memory is one.
        self._texts, self._lock, self._database = texts, threading.Lock(), database
        return True


def scanner(path: str | None, environ: Mapping[str, str]) -> FastScanner | None:
    """Return what ``RERAIL_ENGINE`` asks for; None for the default search alone.

    Raises:
        UsageError: It asks for something else, or for what is not installed.
    """
    wanted = environ.get(VARIABLE, "")
    if wanted not in ("", "default", "fast"):
        raise UsageError(f"{VARIABLE}: expected default or fast, got {wanted!r:.60}")
    if wanted == "fast" and _hyperscan() is None:
        raise UsageError(f"{VARIABLE} asks for the fast engine, which is not installed", hint="install rerail[fast]")
    return None if wanted == "default" else FastScanner(path, at_once=wanted == "fast")


def _hyperscan() -> Any:
    from importlib import import_module

    try:
        return import_module("hyperscan")
    except ImportError:
        return None
