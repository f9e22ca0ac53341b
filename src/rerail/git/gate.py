"""What git may be asked to do: the closed list that every call passes, whoever made it.

A recipe is data and picks primitives; a primitive is code and can be wrong. This list stands behind both: a form that is not in
it is refused before a process exists, so that no recipe can reach a command that throws work away. There is no entry, and will
be none, for ``reset``, ``clean``, ``checkout``, ``switch``, ``restore``, ``branch``, ``push``, ``gc`` or ``reflog``.

It knows argument lists only. Who may ask, and when, is the business of `rerail.git.primitives`.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

import attrs

from rerail.errors import RerailError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class ForbiddenGitError(RerailError):
    """A git command outside the closed list was asked for: a bug of rerail, stopped before it ran."""

    slug = "git-command-forbidden"


class Effect(Enum):
    """Whether a git command can change the repository."""

    READS = "reads"
    WRITES = "writes"


@attrs.frozen
class Form:
    """One permitted shape of a command."""

    words: tuple[str, ...]
    """The subcommand, and what must follow it at once."""
    options: frozenset[str] = frozenset()
    """Every option that may appear; ``--name=`` stands for any value."""
    operands: str = ""
    """A regular expression over the operands, each ended by NUL; empty: none is permitted."""
    effect: Effect = Effect.READS
    needs_index: bool = False
    """Only with an index of its own (``GIT_INDEX_FILE``): on the real one it would drop what is staged."""


def check(args: Sequence[str], env: Mapping[str, str]) -> Effect:
    """Return the effect of a git command.

    Args:
        args: The arguments after ``git``.
        env: The variables set for this call, beside the inherited ones.

    Raises:
        ForbiddenGitError: The command has no permitted form.
    """
    words = _without_global_options(args)
    for form in _FORMS.get(words[0] if words else "", ()):
        if _fits(form, words) and not (form.needs_index and "GIT_INDEX_FILE" not in env):
            return form.effect
    message = f"git {' '.join(args)[:200]}: not in the closed list of commands that rerail may run"
    raise ForbiddenGitError(message)


def _without_global_options(args: Sequence[str]) -> list[str]:
    rest = list(args)
    while rest:
        if rest[0] == "--literal-pathspecs":
            del rest[0]
        elif rest[0] == "-c" and len(rest) > 1 and rest[1] in _OVERRIDES:
            del rest[:2]
        else:
            break
    return rest


def _fits(form: Form, words: list[str]) -> bool:
    count = len(form.words)
    if tuple(words[:count]) != form.words:
        return False
    operands, options_over = [], False
    for word in words[count:]:
        if not options_over and word == "--":
            options_over = True
        elif not options_over and word.startswith("-") and word != "-":
            if word not in form.options and f"{word.split('=', 1)[0]}=" not in form.options:
                return False
        else:
            operands.append(word)
    return re.fullmatch(form.operands, "".join(f"{word}\0" for word in operands), re.DOTALL) is not None


# Settings that a call may override: they keep a probe from running a background job or a walk into submodules, and let a backup
# hold any file name that the file system holds.
_OVERRIDES = frozenset(
    {
        "core.protectHFS=false",
        "core.protectNTFS=false",
        "gc.auto=0",
        "fetch.prune=false",
        "fetch.pruneTags=false",
    }
)

_ANY = r"(?:[^\0]*\0)*"
_ONE = r"[^\0]+\0"
_OID = r"(?:[0-9a-f]{40}|[0-9a-f]{64})\0"
_BRANCH = r"refs/heads/[^\0]+\0"
_OWN_REF = r"refs/rerail/[^\0]+\0"
_TRACKING_REF = r"refs/remotes/[^\0]+\0"
# A fetch may land in rerail's own refs or in remote-tracking ones; a branch or tag is never its target.
_REFSPEC = r"(?:\+?[^\0:+]+:refs/(?:rerail|remotes)/[^\0:]+\0|(?:[0-9a-f]{40}|[0-9a-f]{64})\0)"


def _reads(*words: str, options: str = "", operands: str = _ANY) -> Form:
    return Form(words, frozenset(options.split()), operands)


def _writes(*words: str, options: str = "", operands: str = "", needs_index: bool = False) -> Form:
    return Form(words, frozenset(options.split()), operands, Effect.WRITES, needs_index)


_READ_FORMS = (
    _reads("cat-file", options="-e -t -s -p --batch --batch-check --filters --path="),
    _reads("check-attr", options="-z --stdin", operands=_ONE),
    _reads("commit-graph", "verify", options="--no-progress", operands=""),
    _reads("config", options="--get --list -z --blob=", operands=f"(?:{_ONE})?"),
    _reads("diff-files", options="--name-only -z --ignore-submodules="),
    _reads("diff-index", options="--cached --name-only --numstat --no-renames --no-ext-diff --quiet -z"),
    _reads("diff-tree", options="-r -z --name-only --name-status --no-renames"),
    _reads("for-each-ref", options="--format= --points-at= --contains="),
    _reads("fsck", options="--unreachable --connectivity-only --no-dangling --no-progress", operands=""),
    _reads("hash-object", options="--stdin --stdin-paths --no-filters --path="),
    _reads("ls-files", options="--stage -z -t --eol"),
    _reads("ls-remote", options="--quiet"),
    _reads("ls-tree", options="-r -z"),
    _reads("merge-base", options="--is-ancestor"),
    _reads("multi-pack-index", "verify", options="--no-progress", operands=""),
    _reads(
        "rev-list",
        options="--cherry-pick --count --ignore-missing --merges --no-walk --not --objects --quiet --remotes --reverse "
        "--right-only --stdin --topo-order -g",
    ),
    _reads(
        "rev-parse", options="--verify -q --quiet --git-path --git-dir --git-common-dir --path-format= --show-toplevel"
    ),
    _reads("show-ref", options="--verify --quiet"),
    _reads("sparse-checkout", "list", operands=""),
    _reads("status", options="--porcelain=v2 -z --untracked-files= --ignore-submodules= --no-renames"),
    _reads("symbolic-ref", options="-q", operands=_ONE),
    _reads("var", operands=_ONE),
    _reads("version", operands=""),
)

_FETCH_OPTIONS = (
    "--quiet --no-tags --no-write-fetch-head --no-auto-maintenance --no-recurse-submodules "
    "--refmap= --deepen= --unshallow --refetch"
)

_WRITE_FORMS = (
    *(_writes(verb, "--continue") for verb in ("merge", "rebase", "cherry-pick", "revert", "am")),
    _writes("bisect", "reset"),
    _writes("checkout-index", options="-z --stdin -u"),  # without -f: what is there stays
    _writes("commit-tree", options="-p -m", operands=rf"{_ONE}(?:{_ONE})*"),
    _writes("config", "--local", operands=rf"branch\.[^\0]+\.(?:remote|merge)\0{_ONE}"),
    _writes("config", "--local", operands=rf"user\.(?:name|email)\0{_ONE}"),
    _writes("config", "--local", "--add", operands=rf"remote\.[^\0]+\.fetch\0{_ONE}"),
    _writes("fetch", options=_FETCH_OPTIONS, operands=rf"{_ONE}(?:{_REFSPEC})*"),
    _writes("hash-object", "-w", options="-t --stdin --stdin-paths --no-filters", operands=rf"(?:{_ONE})?"),
    _writes("index-pack", operands=r"[^\0]+\.pack\0"),
    _writes("merge-tree", "--write-tree", options="--no-messages", operands=_ONE * 2),
    _writes("read-tree", "-m", "-u", operands=_ONE * 2),  # two trees: local changes are carried over, or it refuses
    _writes("read-tree", operands=_ONE, needs_index=True),
    _writes("sparse-checkout", "add", options="--stdin"),
    _writes("stash", "store", options="-q -m", operands=rf"{_ONE}{_OID}"),
    _writes("submodule", "update", options="--init --checkout --quiet", operands=_ONE),
    _writes("symbolic-ref", options="-m", operands=rf"{_ONE}HEAD\0{_BRANCH}"),
    _writes("update-index", options="-z --stdin --index-info -q --refresh"),
    # Three operands: the old value is never left out, so that nobody's newer value is overwritten.
    _writes("update-ref", options="-m", operands=rf"(?:{_ONE})?refs/[^\0]+\0{_OID}{_OID}"),
    _writes("update-ref", "-d", operands=rf"(?:{_OWN_REF}|{_TRACKING_REF}){_OID}"),
    _writes("write-tree", options="--missing-ok"),
)


def _by_verb() -> dict[str, tuple[Form, ...]]:
    table: dict[str, tuple[Form, ...]] = {}
    for form in (*_READ_FORMS, *_WRITE_FORMS):
        table[form.words[0]] = (*table.get(form.words[0], ()), form)
    return table


_FORMS = _by_verb()
