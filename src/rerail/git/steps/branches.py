"""Steps on branches: bringing a remote's commits in, upstreams, and a detached HEAD."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git import found
from rerail.git.finding import Finding
from rerail.git.moves import REFLOG_MARK
from rerail.git.repairs import publish
from rerail.git.snapshot import NO_REACH, Reach
from rerail.git.steps.spec import StepSpec, move_ref, reach_config, sure
from rerail.recipes.heals import Need

if TYPE_CHECKING:
    from rerail.git.case import Case


def _reach_integration(case: Case) -> Reach:
    plan = case.once(found.integration)
    if isinstance(plan, Finding):
        return NO_REACH
    refs = {plan.branch, *({plan.remote.tracking} if plan.remote.tracking else ())}
    is_checked_out = plan.branch == case.state.head.branch
    return Reach(paths=frozenset(plan.paths) if is_checked_out else frozenset(), refs=frozenset(refs))


def _take_over_integration(case: Case) -> tuple[str, ...]:
    plan = sure(case.once(found.integration))
    git = case.state.git
    if plan.remote.tracking:
        seen = git.line("rev-parse", "-q", "--verify", plan.remote.tracking, check=False) or "0" * len(plan.theirs)
        move_ref(case, plan.remote.tracking, seen, plan.theirs, "fetch")
    if plan.branch == case.state.head.branch:
        # The work tree first: were this cut short, a commit would carry the remote's changes instead of undoing them.
        git.at(case.state.root)("read-tree", "-m", "-u", plan.old, plan.new)
        case.mark("moved the work tree")
    move_ref(case, plan.branch, plan.old, plan.new, f"integrate {plan.remote.remote}")
    return (f"{plan.branch.removeprefix('refs/heads/')} {plan.how}",)


def _set_upstream(case: Case) -> tuple[str, ...]:
    branch, remote = sure(case.once(found.publication if case.call("push") else found.counterpart))
    publish.set_upstream(case.state, branch, remote)
    name = branch.removeprefix("refs/heads/")
    return (f"set {remote.remote}/{remote.ref.removeprefix('refs/heads/')} as the upstream of {name}",)


def _reach_attachment(case: Case) -> Reach:
    plan = case.once(found.attachment)
    return NO_REACH if isinstance(plan, Finding) else Reach(refs=frozenset({plan.branch}))


def _attach_head(case: Case) -> tuple[str, ...]:
    plan = sure(case.once(found.attachment))
    move_ref(case, plan.branch, plan.old, plan.new, "fast-forward to the detached HEAD")
    case.state.git("symbolic-ref", "-m", f"{REFLOG_MARK}attach HEAD", "HEAD", plan.branch)
    name = plan.branch.removeprefix("refs/heads/")
    forward = "" if plan.old == plan.new else ", fast-forwarded to the commits that were made on it"
    return (f"attached HEAD to {name}{forward}",)


TAKE_OVER_INTEGRATION = StepSpec(
    (Need.NO_OPERATION, Need.NOTHING_UNMERGED, Need.NO_CHANGE_IN_THE_WAY, Need.NO_LIVE_GIT),
    "bring the remote's commits into the branch, if that goes without a conflict",
    _reach_integration,
    _take_over_integration,
)
SET_UPSTREAM = StepSpec((Need.NO_LIVE_GIT,), "set the branch's upstream", reach_config, _set_upstream)
ATTACH_HEAD = StepSpec(
    (Need.ATTACHABLE, Need.NO_OPERATION, Need.NO_LIVE_GIT),
    "attach HEAD to the branch that it came from",
    _reach_attachment,
    _attach_head,
)
