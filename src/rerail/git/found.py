"""What has been found out about a failure's repository: asked once a case, and shared by conditions, steps and checks.

Each function returns what it found, or the finding that says why there is nothing to act on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git.finding import Finding, absent, fails
from rerail.git.looks import case as letters
from rerail.git.looks import filters, phantoms, submodules
from rerail.git.repairs import aside, heads, integrate, objects, partial, publish, reformat, regrow, revisions, tracking
from rerail.git.repairs import locks as lock_files
from rerail.git.repairs.transport import fetch

if TYPE_CHECKING:
    from pathlib import Path

    from rerail.git.case import Case
    from rerail.git.state import Change


def locks(case: Case) -> tuple[lock_files.Lock, ...]:
    """Return the locks that are there."""
    return lock_files.present_locks(case.state, case.lines)


def reformatting(case: Case) -> reformat.Reformatted | Finding:
    """Return what a commit hook rewrote."""
    return reformat.reformatted(case.state, case.call("commit"), case.lines)


def pushed(case: Case) -> integrate.Integration | Finding:
    """Return the branch that a refused push could be made from."""
    return _joined(case, publish.pushed(case.state, case.call("push"), case.lines))


def pulled(case: Case) -> integrate.Integration | Finding:
    """Return the branch that a refused pull would make."""
    call = case.call("pull")
    if call is not None and call.has("--ff-only"):
        return fails("the pull was to fast-forward only, and cannot")
    return _joined(case, publish.pulled(case.state, call))


def integration(case: Case) -> integrate.Integration | Finding:
    """Return the integration that the failure calls for."""
    return case.once(pulled if case.request.reason == "diverged" else pushed)


def publication(case: Case) -> publish.Counterparts | Finding:
    """Return the remote branch that a branch without an upstream would become."""
    return publish.publishable(case.state)


def counterpart(case: Case) -> publish.Counterparts | Finding:
    """Return the remote branch of the same name, for a command that asks for what it has."""
    if case.call("push") is not None:
        return absent("a push asks for nothing that the remote has")
    return publish.trackable(case.state)


def attachment(case: Case) -> heads.Attachment | Finding:
    """Return the branch that HEAD came from."""
    return heads.attachment(case.state)


def lost_refs(case: Case) -> tuple[heads.LostRef, ...] | Finding:
    """Return the broken refs, of those that the command needs, and their values."""
    call = case.call()
    # Of a ref that it cannot read, git often only says that there is none; ``git stash`` only that it cannot save.
    words = [word for word in call.operands if not any(map(str.isspace, word))] if call is not None else []
    named = (f"{folder}{word}" for word in words for folder in ("refs/heads/", "refs/tags/", "refs/remotes/"))
    needed = (*case.lines, *named, *(("refs/stash",) if case.call("stash") else ()))
    return heads.lost_refs(case.state, needed)


def unpacked_refs(case: Case) -> tuple[heads.LostRef, ...] | Finding:
    """Return the refs that damaged packed refs no longer name."""
    return heads.unpacked_refs(case.state)


def lost_head(case: Case) -> str | Finding:
    """Return what a broken HEAD held."""
    return heads.lost_head(case.state)


def changes(case: Case) -> tuple[Change, ...] | Finding:
    """Return the tracked changes in the way."""
    in_way = aside.changes_in_way(case.state, case.call(), case.lines)
    if isinstance(in_way, Finding):
        return in_way
    return phantoms.sticky(case.state, in_way) or in_way


def untracked(case: Case) -> tuple[str, ...] | Finding:
    """Return the untracked files in the way."""
    return aside.untracked_in_way(case.state, case.call(), case.lines)


def revision(case: Case) -> revisions.RemoteRevision | Finding:
    """Return where a remote has the missing revision."""
    name = revisions.missing_revision(case.state, case.call())
    return name if isinstance(name, Finding) else revisions.remote_revision(case.state, name)


def submodule(case: Case) -> str | Finding:
    """Return the submodule that was never checked out."""
    return partial.empty_submodule(case.state, case.call())


def outside_cone(case: Case) -> tuple[str, ...] | Finding:
    """Return the directories that the sparse checkout leaves out."""
    return partial.outside_cone(case.state, case.call())


def caches(case: Case) -> tuple[Path, ...] | Finding:
    """Return the derived files of the object store that are damaged."""
    return objects.damaged_caches(case.state, case.lines)


def missing_objects(case: Case) -> tuple[str, ...] | Finding:
    """Return the objects that cannot be read."""
    return objects.missing_objects(case.state, case.lines)


def object_sources(case: Case) -> tuple[regrow.Source, ...] | Finding:
    """Return where the content of objects that cannot be read is still here."""
    return regrow.sources(case.state, case.lines)


def stale_tracking(case: Case) -> dict[str, str] | Finding:
    """Return the remote-tracking refs in the way of others."""
    return tracking.stale_refs(case.state, case.lines)


def stat_dirty(case: Case) -> tuple[str, ...] | Finding:
    """Return the files of which only the index's facts are stale."""
    return phantoms.stat_dirty(case.state, case.lines)


def endings_phantoms(case: Case) -> tuple[str, ...] | Finding:
    """Return the files that show as changed by line endings that attributes convert."""
    return phantoms.by_line_endings(case.state)


def pointer_phantoms(case: Case) -> tuple[str, ...] | Finding:
    """Return the files of Git LFS that are recorded whole."""
    return phantoms.unpointed(case.state)


def lacking_lfs(case: Case) -> filters.Lacking | Finding:
    """Return the files of Git LFS, where that is not here."""
    return filters.lacking_lfs(case.state, case.lines)


def idle_lfs(case: Case) -> filters.Lacking | Finding:
    """Return the files of Git LFS, where git is not set up to run it."""
    return filters.idle_lfs(case.state, case.lines)


def lacking_filter(case: Case) -> filters.Lacking | Finding:
    """Return the filter in use that cannot run."""
    return filters.lacking(case.state)


def failing_filter(case: Case) -> str | Finding:
    """Return the filter that refused."""
    return filters.failing(case.lines)


def guarded_endings(case: Case) -> tuple[str, ...] | Finding:
    """Return the files whose line endings git could not give back."""
    return phantoms.guarded(case.state, case.lines)


def dirty_submodules(case: Case) -> tuple[submodules.Holding, ...] | Finding:
    """Return the submodules that the failure is about and in which something is not committed."""
    return submodules.dirty(case.state, case.once(_submodules_at_hand))


def unpushed_submodules(case: Case) -> tuple[submodules.Holding, ...] | Finding:
    """Return the submodules that the failure is about, with commits that are nowhere else."""
    return submodules.unpushed(case.state, case.once(_submodules_at_hand))


def absent_submodules(case: Case) -> tuple[str, ...] | Finding:
    """Return the submodules that are not checked out."""
    return submodules.not_checked_out(case.state)


def unfetched_submodules(case: Case) -> tuple[str, ...] | Finding:
    """Return the submodules that lack the commit which is recorded for them."""
    return submodules.unfetched(case.state)


def case_twins(case: Case) -> tuple[str, ...] | Finding:
    """Return the tracked paths that the file system takes for each other."""
    return letters.twins_at_hand(case.state, case.lines)


def extra_twins(case: Case) -> tuple[str, ...] | Finding:
    """Return those of them that the work tree has only under another spelling."""
    twins = case.once(case_twins)
    return twins if isinstance(twins, Finding) else letters.misspelled(case.state, twins)


def wrong_case_setting(case: Case) -> str | Finding:
    """Return what core.ignorecase has to be, where it is not."""
    return letters.wrong_setting(case.state, case.lines)


def case_rename(case: Case) -> tuple[str, str] | Finding:
    """Return both names of a rename that changes only the case of letters."""
    return letters.rename(case.state, case.call())


def tracked_as(case: Case) -> tuple[str, ...] | Finding:
    """Return the tracked paths that the command names in another case."""
    return letters.tracked_as(case.state, case.call())


def _submodules_at_hand(case: Case) -> tuple[str, ...]:
    """Return the submodules that the failure names; all of them where it is about submodules and names none."""
    call = case.call()
    words = call.operands if call is not None else ()
    known = case.state.submodules
    named = tuple(path for path in known if path in words or any(path in line for line in case.lines))
    return named or (known if case.request.reason == "submodule" else ())


def _joined(case: Case, sides: publish.Counterparts | Finding) -> integrate.Integration | Finding:
    if isinstance(sides, Finding):
        return sides
    branch, remote = sides
    theirs = fetch(case.state, remote.remote, remote.ref)
    return theirs if isinstance(theirs, Finding) else integrate.integrate(case.state, branch, remote, theirs)
