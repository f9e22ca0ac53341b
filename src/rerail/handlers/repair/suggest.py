"""Names that are the same name in another spelling: ``workspaceId``, ``workspace-id``, ``Workspace_ID``.

Only case, underscores, hyphens and spaces may differ; nearness by letters is a guess, and ``delete`` is near ``deleted``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_APART = str.maketrans("", "", "_- ")


def alike(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of *names* that spell *name* otherwise, each once; a suggestion is certain when there is exactly one."""
    wanted = _letters(name)
    return tuple({each: None for each in names if wanted and each != name and _letters(each) == wanted})


def _letters(name: str) -> str:
    return name.translate(_APART).casefold()
