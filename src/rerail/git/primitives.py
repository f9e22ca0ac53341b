"""The closed set of steps, by name.

A recipe picks steps; it cannot give them arguments. What a step acts on is what the conditions found in the repository, and
its own guards are asked even where a recipe leaves them out. All of git that a step can reach passes `rerail.git.gate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git.steps import absent, branches, damage, local, operations
from rerail.recipes.heals import StepName

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rerail.git.steps.spec import StepSpec

STEPS: Mapping[StepName, StepSpec] = {
    StepName.SET_LOCKS_ASIDE: local.SET_LOCKS_ASIDE,
    StepName.RESTAGE: local.RESTAGE,
    StepName.RESOLVE_LOCKFILES: local.RESOLVE_LOCKFILES,
    StepName.SET_CHANGES_ASIDE: local.SET_CHANGES_ASIDE,
    StepName.SET_UNTRACKED_ASIDE: local.SET_UNTRACKED_ASIDE,
    StepName.TAKE_OVER_INTEGRATION: branches.TAKE_OVER_INTEGRATION,
    StepName.SET_UPSTREAM: branches.SET_UPSTREAM,
    StepName.ATTACH_HEAD: branches.ATTACH_HEAD,
    StepName.CONCLUDE_OPERATION: operations.CONCLUDE_OPERATION,
    StepName.CONCLUDE_IF_RESOLVED: operations.CONCLUDE_IF_RESOLVED,
    StepName.SET_DEBRIS_ASIDE: operations.SET_DEBRIS_ASIDE,
    StepName.END_BISECT: operations.END_BISECT,
    StepName.REBUILD_PACKED_REFS: damage.REBUILD_PACKED_REFS,
    StepName.RESTORE_REF: damage.RESTORE_REF,
    StepName.RESTORE_HEAD: damage.RESTORE_HEAD,
    StepName.REBUILD_INDEX: damage.REBUILD_INDEX,
    StepName.RENEW_CACHES: damage.RENEW_CACHES,
    StepName.REGROW_OBJECTS: damage.REGROW_OBJECTS,
    StepName.REFETCH_OBJECTS: damage.REFETCH_OBJECTS,
    StepName.FETCH_REVISION: absent.FETCH_REVISION,
    StepName.DEEPEN_HISTORY: absent.DEEPEN_HISTORY,
    StepName.INIT_SUBMODULE: absent.INIT_SUBMODULE,
    StepName.WIDEN_SPARSE: absent.WIDEN_SPARSE,
    StepName.DROP_TRACKING_REFS: absent.DROP_TRACKING_REFS,
    StepName.REFRESH_INDEX: local.REFRESH_INDEX,
    StepName.SET_IDENTITY: local.SET_IDENTITY,
}
