"""Who commits in a repository where git does not know, by the operator's word in ``git.toml`` of their configuration directory.

    [[identity]]
    root = "~/src/shop"                   # any directory of the repository; all its worktrees are meant
    name = "Shop Build"
    email = "build@shop.example"

Never from ``rerail.toml``: a commit's author is a claim about a person or a service, an agent can write that file, and a name
that it put there would be forged. Without an entry rerail asks, and makes nothing up.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerail import operator_file
from rerail.ledger.location import locate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rerail.git.case import Identity
    from rerail.toml_lines import KeyPath

FILE = "git.toml"
_KEYS = ("root", "name", "email")
_REFUSED = frozenset("<>\n\r\0")
"""What git would cut out of a name or address."""
_MOST_CHARS = 200


def identity_for(root: Path, environ: Mapping[str, str] = os.environ) -> Identity | None:
    """Return who commits in the repository at *root*; None where the operator has not said.

    Raises:
        SettingsError: The file has faults, lies inside the project, or others than its owner may write it.
    """
    from rerail.git.case import Identity

    file = operator_file.read(FILE, root, environ)
    if file is None:
        return None
    file.refuse(_faults(file.table))
    key = locate(root, environ).key
    mine = (
        each for each in file.table.get("identity", []) if locate(Path(each["root"]).expanduser(), environ).key == key
    )
    return next((Identity(each["name"], each["email"]) for each in mine), None)


def _faults(table: dict[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    for key in table.keys() - {"identity"}:
        yield (key,), "is no setting; there is [[identity]]"
    entries = table.get("identity", [])
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        yield ("identity",), "must be written as [[identity]]"
        return
    for index, entry in enumerate(entries):
        at: KeyPath = ("identity", index)
        for key in entry.keys() - set(_KEYS):
            yield (*at, key), f"is no setting; there are {', '.join(_KEYS)}"
        root = entry.get("root")
        if not isinstance(root, str) or not Path(root).expanduser().is_absolute():
            yield (*at, "root"), f"must be the absolute path of a directory, got {root!r:.60}"
        for key in ("name", "email"):
            value = entry.get(key)
            if not isinstance(value, str) or not _is_plain(value):
                yield (*at, key), f"must be a {key} as commits have it, got {value!r:.60}"
        email = entry.get("email")
        if isinstance(email, str) and _is_plain(email) and ("@" not in email or " " in email):
            yield (*at, "email"), f"must be an address, got {email!r:.60}"


def _is_plain(value: str) -> bool:
    stripped = value.strip(" \t.,:;\"\\'")
    return bool(stripped) and value.isprintable() and len(value) <= _MOST_CHARS and _REFUSED.isdisjoint(value)
