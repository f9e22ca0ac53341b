"""What a recipe asks of a person: sentences and commands with places that only facts of the repository fill.

A recipe names facts of a closed set. It can neither say what a fact is nor how it is quoted: that is the business of
`rerail.git.asking`. No command of a recipe throws work away, or goes around a hook, a signature or a lock.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Kind(StrEnum):
    """What the values of a fact are, and so how they are written in a command."""

    PLACE = "place"
    """Absolute paths; a command with a fact that has several is given once for each."""
    PATHS = "paths"
    """Paths within the work tree, written as pathspecs; several stand behind each other in one command."""
    NAME = "name"
    """Names of branches, remotes and the like; as for places."""


class Fact(StrEnum):
    """What a repository, and the command that failed, can tell."""

    ROOT = "root"
    INDEX = "index"
    LOCKS = "locks"
    HOOKS = "hooks"
    PATCHES = "patches"
    OTHER_WORKTREE = "other-worktree"
    LOCKED_WORKTREES = "locked-worktrees"
    MAIN_CHECKOUT = "main-checkout"
    SUBMODULES = "dirty-submodules"
    SUBMODULE_PATHS = "dirty-submodule-paths"
    UNPUSHED_SUBMODULES = "unpushed-submodules"
    ABSENT_SUBMODULES = "absent-submodules"
    UNFETCHED_SUBMODULES = "unfetched-submodules"
    UNMERGED = "unmerged"
    UNSTAGED = "unstaged"
    UNTRACKED = "untracked"
    CHANGED = "changed"
    PARTLY_STAGED = "partly-staged"
    UNTRACKED_IN_WAY = "untracked-in-way"
    RENORMALISED = "renormalised"
    GUARDED = "guarded"
    IGNORED = "ignored"
    FILTERED = "filtered"
    EXTRA_TWINS = "extra-twins"
    TWINS = "twins"
    TRACKED_AS = "tracked-as"
    RENAME_SOURCE = "rename-source"
    RENAME_TARGET = "rename-target"
    OPERATION = "operation"
    BRANCH = "branch"
    LEFT_BRANCH = "left-branch"
    REMOTE = "remote"
    REMOTES = "remotes"
    REMOTE_BRANCH = "remote-branch"
    UNKNOWN_REMOTE = "unknown-remote"
    UPSTREAM_REMOTE = "upstream-remote"
    UPSTREAM_BRANCH = "upstream-branch"
    REVISION = "revision"
    UNRELATED = "unrelated-revision"
    SIMILAR = "similar-revisions"
    FILTER = "filter"
    FAILING_FILTER = "failing-filter"
    FILTER_PROGRAM = "filter-program"
    IGNORE_CASE = "ignore-case"


_PLACES = frozenset(
    {
        Fact.ROOT,
        Fact.INDEX,
        Fact.LOCKS,
        Fact.HOOKS,
        Fact.PATCHES,
        Fact.IGNORED,
        Fact.OTHER_WORKTREE,
        Fact.LOCKED_WORKTREES,
        Fact.MAIN_CHECKOUT,
        Fact.SUBMODULES,
        Fact.UNPUSHED_SUBMODULES,
        Fact.RENAME_SOURCE,
        Fact.RENAME_TARGET,
    }
)
_PATHS = frozenset(
    {
        Fact.SUBMODULE_PATHS,
        Fact.ABSENT_SUBMODULES,
        Fact.UNFETCHED_SUBMODULES,
        Fact.UNMERGED,
        Fact.UNSTAGED,
        Fact.UNTRACKED,
        Fact.CHANGED,
        Fact.PARTLY_STAGED,
        Fact.UNTRACKED_IN_WAY,
        Fact.RENORMALISED,
        Fact.GUARDED,
        Fact.FILTERED,
        Fact.EXTRA_TWINS,
        Fact.TWINS,
        Fact.TRACKED_AS,
    }
)


def kind(fact: Fact) -> Kind:
    """Return what the values of a fact are."""
    return Kind.PLACE if fact in _PLACES else Kind.PATHS if fact in _PATHS else Kind.NAME


Template = tuple["str | Fact", ...]
"""A text in pieces: what stands in the recipe, and the facts between."""


@attrs.frozen
class Way:
    """One way out for a person: what it leads to, and the commands to run, in order."""

    to: str
    commands: tuple[tuple[Template, ...], ...]
    """Each as its words."""


def template(text: str) -> Template:
    """Return a text in pieces; a fact's name stands in braces.

    Raises:
        ValueError: There is no fact of that name.
    """
    return tuple(_pieces(text))


def facts(pieces: Iterable[str | Fact]) -> tuple[Fact, ...]:
    """Return the facts that a text takes, each once."""
    return tuple(dict.fromkeys(piece for piece in pieces if isinstance(piece, Fact)))


def command(words: Sequence[str]) -> tuple[Template, ...]:
    """Return a command's words in pieces.

    Raises:
        ValueError: It is none that a person may be asked to run, or a fact stands where it cannot.
    """
    if words[0] not in _PROGRAMS:
        raise ValueError(f"{words[0]} is no program to ask a person for; there are {', '.join(sorted(_PROGRAMS))}")
    for word in words:
        if word in _NEVER or word.startswith(tuple(f"{option}=" for option in _NEVER)):
            raise ValueError(f"{word} throws work away, or goes around a guard: nobody is asked to do that")
        if word.startswith("alias.") or (word == "-c" and words[1] == "-c"):
            raise ValueError(f"{word} would make git run something else")
        if not word.isprintable() or not word.isascii():
            raise ValueError(f"a command is written in printable ASCII, got {word!r}")
    made = tuple(map(template, words))
    for pieces in made:
        if len(pieces) > 1 and any(kind(fact) is Kind.PATHS for fact in facts(pieces)):
            raise ValueError("a fact that is a list of paths is a word of its own")
    repeated = {fact for pieces in made for fact in facts(pieces) if kind(fact) is not Kind.PATHS and fact in MANY}
    if len(repeated) > 1:
        raise ValueError(f"a command is repeated for one fact at most, got {', '.join(sorted(repeated))}")
    return made


MANY = frozenset(
    {
        Fact.LOCKS,
        Fact.HOOKS,
        Fact.PATCHES,
        Fact.LOCKED_WORKTREES,
        Fact.SUBMODULES,
        Fact.UNPUSHED_SUBMODULES,
        Fact.REMOTES,
        Fact.SIMILAR,
        *_PATHS,
    }
)
"""The facts that can have several values."""

_PROGRAMS = frozenset({"git", "mv"})
_NEVER = frozenset(
    {
        *("--force", "-f", "--force-with-lease", "--hard", "--no-verify", "--mirror", "--discard-changes", "--prune"),
        *("clean", "-D", "drop", "clear", "gc", "prune", "filter-branch", "--delete", "--exec", "--upload-pack"),
    }
)
_PLACE = re.compile(r"\{([a-z-]{1,40})\}")


def _pieces(text: str) -> Iterator[str | Fact]:
    for index, piece in enumerate(_PLACE.split(text)):
        if index % 2 and piece not in _FACTS:
            raise ValueError(f"there is no fact named {piece}; there are {', '.join(sorted(_FACTS))}")
        if piece:
            yield Fact(piece) if index % 2 else piece


_FACTS = frozenset(fact.value for fact in Fact)
