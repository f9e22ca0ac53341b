"""An index that git cannot read: built again from HEAD, with the old one and everything that only it could name kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git.files import write_locked
from rerail.git.finding import Finding, fails, holds
from rerail.git.place import own_dir
from rerail.git.state import HeadCondition

if TYPE_CHECKING:
    from rerail.git.state import RepoState

_PERMISSION_WORDS = ("Permission denied", "Operation not permitted")


def rebuildable(state: RepoState) -> Finding:
    """Return whether the index is unreadable, and whether HEAD says all that a new one needs."""
    if not state.index_fault:
        return fails("the index can be read")
    if any(word in state.index_fault for word in _PERMISSION_WORDS):
        return fails(f"the index may not be read: {state.index_fault}")
    if state.operation is not None:
        return fails(f"a {state.operation.kind} is in progress: what was resolved stands in the index alone")
    if state.head.condition is not HeadCondition.BORN:
        return fails("HEAD leads to no commit that an index could be built from")
    if state.is_sparse:
        return fails("only a part of the tree is checked out, and the index alone says which")
    return holds(f"the index cannot be read ({state.index_fault}), and HEAD can")


def rebuild(state: RepoState) -> None:
    """Build the index from HEAD, with the file times of the work tree, and put it in place in one rename."""
    place = state.here
    fresh = own_dir(place) / "rebuilt.index"
    fresh.parent.mkdir(parents=True, exist_ok=True)
    fresh.unlink(missing_ok=True)
    env = {"GIT_INDEX_FILE": str(fresh)}
    state.git("read-tree", "HEAD", env=env)
    if place.root is not None:
        state.git("update-index", "-q", "--refresh", env=env, check=False)  # its code says that files differ
    # The time of the build goes with it: an index younger than it is makes git miss edits.
    data, built_ns = fresh.read_bytes(), fresh.stat().st_mtime_ns
    write_locked(place.git_dir / "index", data, scratch=own_dir(place), mtime_ns=built_ns)
    fresh.unlink()
