"""Steps on operations in progress: concluding a resolved one, and setting debris aside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git.finding import Verdict
from rerail.git.probe import probe
from rerail.git.repairs import conclude
from rerail.git.snapshot import Reach
from rerail.git.steps.spec import StepRefusedError, StepSpec
from rerail.recipes.heals import Need

if TYPE_CHECKING:
    from rerail.git.case import Case

_STASH = "refs/stash"


def _reach_conclusion(case: Case) -> Reach:
    branch = conclude.operation_ref(case.state)
    return _reach_stash(case) | Reach(refs=frozenset({branch} if branch else ()), everything=True)  # hooks run


def _conclude_operation(case: Case) -> tuple[str, ...]:
    return (f"concluded the {conclude.conclude(case.state)}, which was resolved",)


def _conclude_if_resolved(case: Case) -> tuple[str, ...]:
    now = probe(case.top)
    if now.operation is None or conclude.settles_itself(case.call(), now.operation):
        return ()
    finding = conclude.concludable(now, case.call())
    if finding.verdict is not Verdict.HOLDS:
        raise StepRefusedError(finding.text, finding=finding)
    return (f"concluded the {conclude.conclude(now)}",)


def _reach_stash(case: Case) -> Reach:
    if case.state.git.ask("show-ref", "--verify", "--quiet", _STASH):
        return Reach(refs=frozenset({_STASH}))
    # As the file that it will be: no git command that is permitted takes the first stash entry away again.
    return Reach(refs=frozenset({_STASH}), git_files=frozenset({case.state.here.common_dir / _STASH}))


def _set_debris_aside(case: Case) -> tuple[str, ...]:
    name = conclude.set_debris_aside(case.state, case.aside)
    return (f"moved {name} aside, which a crash had left",)


def _reach_bisect(case: Case) -> Reach:
    refs = case.state.git("for-each-ref", "--format=%(refname)", "refs/bisect").lines()
    return Reach(refs=frozenset(refs), everything=True)


def _end_bisect(case: Case) -> tuple[str, ...]:
    conclude.reset_bisect(case.state)
    return ("went back to where the bisection began",)


CONCLUDE_OPERATION = StepSpec(
    (Need.CONCLUDABLE, Need.NO_LIVE_GIT),
    "conclude the operation in progress",
    _reach_conclusion,
    _conclude_operation,
)
CONCLUDE_IF_RESOLVED = StepSpec(
    (Need.NO_LIVE_GIT,),
    "conclude the operation in progress, unless the command itself will",
    _reach_conclusion,
    _conclude_if_resolved,
)
SET_DEBRIS_ASIDE = StepSpec(
    (Need.OPERATION_DEBRIS, Need.NO_LIVE_GIT),
    "move what the crashed operation left aside",
    _reach_stash,
    _set_debris_aside,
)
END_BISECT = StepSpec(
    (Need.BISECT_FINISHED, Need.NO_LIVE_GIT), "go back to where the bisection began", _reach_bisect, _end_bisect
)
