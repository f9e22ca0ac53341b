"""A private file that keeps what recipes were compiled to, so that a hook neither parses TOML nor loads pydantic.

The file says of what it was made. A missing, foreign, damaged or outdated one is as good as none: it is made again, and
nobody hears of it. It is JSON, for what is read back must not be able to do anything.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path, key: str) -> dict[str, Any] | None:
    """Return what *path* keeps under *key*; None for anything else, whatever is wrong with it."""
    try:
        with path.open(encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
                return None  # somebody else could have written it
            content = json.load(file)
        data = content["data"] if content["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def write(path: Path, key: str, data: dict[str, Any]) -> None:
    """Keep *data* under *key*, whole or not at all; where it cannot be kept, only time is lost."""
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError:
        return
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"key": key, "data": data}, file, separators=(",", ":"))
        scratch.replace(path)
    except OSError:
        scratch.unlink(missing_ok=True)
