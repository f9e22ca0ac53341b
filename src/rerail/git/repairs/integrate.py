"""Bringing a remote's commits into a branch: computed whole in the object database, then taken over in two moves.

Nothing is tried on the work tree, so there is nothing to abort: a conflict is found before anything changes. Local commits are
replayed on top of the remote's where that is harmless, and joined by a merge where a replay would rewrite what others have or
flatten merges. Hooks that a rebase runs are not run; no commit is made that a person did not write.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from rerail.git.finding import Finding, fails, holds

if TYPE_CHECKING:
    from rerail.git.command import Git
    from rerail.git.repairs.transport import RemoteBranch
    from rerail.git.state import RepoState

_SCAFFOLD = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "rerail"), ("EMAIL", "rerail@localhost"), ("DATE", "@0 +0000"))
}


@attrs.frozen
class Integration:
    """A branch that can take over a remote branch without a conflict."""

    branch: str
    """The local branch, by its full name."""
    remote: RemoteBranch
    old: str
    theirs: str
    new: str
    """The commit that has both."""
    how: str
    """For people: what was done."""
    paths: tuple[str, ...]
    """What differs between the old and the new tree."""
    fresh: tuple[str, ...]
    """Those of the paths that the old tree does not have."""


def integrate(state: RepoState, branch: str, remote: RemoteBranch, theirs: str) -> Integration | Finding:
    """Compute a branch that has a remote's commits too; writes objects only.

    Returns:
        The integration, or why a person has to decide.
    """
    git = state.git
    old = git.line("rev-parse", "--verify", f"{branch}^{{commit}}")
    base = git.line("merge-base", old, theirs, check=False)
    refusal = _history_refusal(state, branch, remote, old, theirs, base)
    if refusal is not None:
        return refusal
    if base == theirs:
        return fails("the branch has everything that the remote has: the push was refused for another reason")
    if base == old:
        new, how = theirs, "fast-forwarded to the remote's commits"
    else:
        joined = _join(state, remote, old, theirs)
        if isinstance(joined, Finding):
            return joined
        new, how = joined
    changed = git("diff-tree", "-r", "-z", "--name-status", "--no-renames", old, new).records()
    pairs = list(zip(changed[::2], changed[1::2], strict=True))
    fresh = tuple(path for status, path in pairs if status == "A")
    return Integration(branch, remote, old, theirs, new, how, tuple(path for _, path in pairs), fresh)


def three_way(git: Git, base: str, ours: str, theirs: str) -> str | None:
    """Merge three trees and return the tree, or None when they conflict. Writes objects only."""
    root = _scaffold(git, base)
    merged = git(
        *("merge-tree", "--write-tree", "--no-messages", _scaffold(git, ours, root), _scaffold(git, theirs, root)),
        check=False,
    )
    return merged.lines()[0] if merged.ok else None


def rewritten(git: Git, commit: str, tree: str, parent: str, committer: str) -> str:
    """Store a commit again on another parent: same author, message and encoding, byte for byte."""
    header, _, message = git("cat-file", "commit", commit).out.partition(b"\n\n")
    kept = {line.split(b" ", 1)[0]: line for line in header.split(b"\n") if not line.startswith(b" ")}
    lines = [f"tree {tree}".encode(), f"parent {parent}".encode(), kept[b"author"], f"committer {committer}".encode()]
    if b"encoding" in kept:
        lines.append(kept[b"encoding"])
    data = b"\n".join(lines) + b"\n\n" + message
    return git("hash-object", "-w", "-t", "commit", "--stdin", stdin=data).text


def in_the_way(state: RepoState, integration: Integration) -> Finding:
    """Return whether local changes leave room for the new tree."""
    if integration.branch != state.head.branch:
        return holds("the branch is not checked out")
    dirty = {change.path for change in state.changes} & set(integration.paths)
    taken = {path for path in integration.fresh if (state.root / path).exists() or (state.root / path).is_symlink()}
    if not dirty and not taken:
        return holds("no local change is where the remote's commits change something")
    what = ", ".join(sorted(dirty | taken)[:5])
    return fails(f"local files are where the remote's commits change something: {what}")


def _history_refusal(
    state: RepoState, branch: str, remote: RemoteBranch, old: str, theirs: str, base: str
) -> Finding | None:
    git = state.git
    if not base:
        return fails("the two histories have no common commit")
    if state.elsewhere(branch) is not None:
        return fails(f"{branch} is checked out in another worktree")
    seen = git.line("rev-parse", "-q", "--verify", remote.tracking, check=False) if remote.tracking else ""
    if seen and not git.ask("merge-base", "--is-ancestor", seen, theirs):
        return fails("the remote branch was rewritten: its old commits may have been dropped on purpose")
    incoming = set(git("rev-list", theirs, f"^{old}").lines())
    if incoming & set(git("rev-list", "-g", branch, check=False).lines()):
        return fails("the remote has commits that this branch once had: it was rewritten here, after it was published")
    return None


def _join(state: RepoState, remote: RemoteBranch, old: str, theirs: str) -> tuple[str, str] | Finding:
    git = state.git
    committer = git.line("var", "GIT_COMMITTER_IDENT", check=False)
    if not committer:
        return fails("git does not know who commits; set user.name and user.email")
    own = git("rev-list", "--reverse", "--topo-order", "--cherry-pick", "--right-only", f"{theirs}...{old}").lines()
    if state.setting("commit.gpgsign") == "true" or any(_is_signed(git, commit) for commit in own):
        return fails("commits are signed here, and rerail does not sign for anybody")
    if _are_shared(git, own, remote) or git.line("rev-list", "--merges", "--count", f"{theirs}..{old}") != "0":
        return _merge(git, old, theirs, remote)
    return _replay(git, own, theirs, committer)


def _replay(git: Git, own: list[str], theirs: str, committer: str) -> tuple[str, str] | Finding:
    tip = theirs
    for commit in own:
        tree = three_way(git, f"{commit}^", tip, commit)
        if tree is None:
            return fails(f"commit {commit[:10]} conflicts with the remote's commits")
        if tree == _tree_of(git, tip) and _tree_of(git, commit) != _tree_of(git, f"{commit}^"):
            continue  # the remote has its change already
        tip = rewritten(git, commit, tree, tip, committer)
    return tip, f"replayed {len(own)} local commit{'s' * (len(own) != 1)} on the remote's commits"


def _merge(git: Git, old: str, theirs: str, remote: RemoteBranch) -> tuple[str, str] | Finding:
    merged = git("merge-tree", "--write-tree", "--no-messages", old, theirs, check=False)
    if not merged.ok:
        return fails("local commits conflict with the remote's commits")
    name = remote.ref.removeprefix("refs/heads/")
    message = f"Merge branch '{name}' of {remote.remote}"
    commit = git("commit-tree", merged.lines()[0], "-p", old, "-p", theirs, "-m", message).text
    return commit, "merged the remote's commits, because a replay would have rewritten merges or shared commits"


def _are_shared(git: Git, own: list[str], remote: RemoteBranch) -> bool:
    """Whether others may have the local commits: a remote-tracking ref, any but the branch's own, contains one."""
    if not own:
        return False
    holders = git("for-each-ref", "--format=%(refname)", f"--contains={own[0]}", "refs/remotes").lines()
    return any(ref != remote.tracking for ref in holders)


def _is_signed(git: Git, commit: str) -> bool:
    header = git("cat-file", "commit", commit).out.partition(b"\n\n")[0]
    return re.search(rb"^gpgsig", header, re.MULTILINE) is not None


def _scaffold(git: Git, treeish: str, *parents: str) -> str:
    """Return a commit of a tree that only lends `merge-tree` a merge base. The same tree gives the same commit."""
    tree = _tree_of(git, treeish)
    words = [word for parent in parents for word in ("-p", parent)]
    return git("commit-tree", tree, *words, "-m", "scaffold", env=_SCAFFOLD).text


def _tree_of(git: Git, treeish: str) -> str:
    return git.line("rev-parse", "--verify", f"{treeish}^{{tree}}")
