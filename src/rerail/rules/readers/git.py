"""Reads what git prints around its errors: titles of commits, names of branches and the data of log and diff decide nothing.

What git says in ``fatal:`` and ``error:`` lines needs no reading, the rules know it. This reader only takes out of sight what
people wrote: a commit that is called "retry on 429" must not look like a rate limit. Hooks are the business of `githooks`.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.rules.readers.lazy import lazy
from rerail.rules.readers.model import Draft, Scene, Weight

if TYPE_CHECKING:
    from collections.abc import Sequence

_TITLED = lazy(r"^(.{0,80}?(?:could not (?:apply|revert) |Could not (?:apply|revert) )[0-9a-f]{4,64}\.{3})\s")
_PATCH_TITLE = lazy(r"^(Patch failed at \d{4})\s")
_QUOTES_PEOPLE = lazy(
    r"""(?x)
      Applying:\s | HEAD\sis\snow\sat\s[0-9a-f]{4,} | \[[^\]]{1,100}\s[0-9a-f]{4,64}\]\s | \[[0-9a-f]{7,64}\]\s
    | Rebasing\s\(\d+/\d+\)$ | Skipping\s(?:patch|commit)
    | (?:dropping|pick|reword|edit|squash|fixup|drop)\s[0-9a-f]{4,64}\s
    | Saved\sworking\sdirectory | Dropped\srefs/stash | warning:\sskipped\spreviously\sapplied\scommit
    | \s?[\s*+\-=t]\s(?:\[(?:new\s(?:branch|tag|ref)|deleted|tag\supdate|up\sto\sdate)\]|[0-9a-f]{4,64}\.{2,3}[0-9a-f]{4,64})\s
    | \s?\*\sbranch\s | Previous\sHEAD\sposition\swas\s | Switched\sto\s | Already\son\s'
    """
)
"""Lines that tell in passing what a commit or branch is called."""
_DATA_COMMANDS = lazy(
    r"\bgit (?:-\S+ (?:\S+ )?)?(?:log|show|diff|grep|blame|shortlog|cat-file|reflog|ls-files|ls-tree|format-patch|rev-list)\b"
)
_OWN_ERROR = lazy(r"^(?:fatal|error): ")
_AROUND_GIT = frozenset(
    {"git", "cd", "env", "sudo", "timeout", "echo", "true", "set", "export", "command", "bash", "sh"}
)
"""Programs beside git that print nothing of their own that could be taken for its data."""


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Take titles, names and shown data out of sight."""
    shows_data = scene.tools <= _AROUND_GIT and _DATA_COMMANDS.search(scene.command) is not None
    for draft in drafts:
        for index, line in enumerate(draft.bare):
            if draft.weights[index] is None:
                _read_line(draft, index, line)
        if shows_data and draft.name == "stdout":
            draft.mask(*(index for index, line in enumerate(draft.bare) if not _OWN_ERROR.match(line)))


def _read_line(draft: Draft, index: int, line: str) -> None:
    if _QUOTES_PEOPLE.match(line):
        draft.mask(index)
    elif line.startswith("warning: Not a git repository"):
        # What follows is only the usage of `git diff --no-index`.
        draft.mark(Weight.DECIDING, index)
    elif titled := _TITLED.match(line) or _PATCH_TITLE.match(line):
        draft.shown_as(index, titled[1])
