"""The classes in force, what each does, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.boundary.result import Result

if TYPE_CHECKING:
    from rerail.app import Project


def taxonomy(project: Project) -> Result:
    """Return the classes in force in a project, with their reasons."""
    known, policy = project.loaded.taxonomy, project.settings.policy
    data = {
        "classes": [
            {
                "name": spec.name,
                "signal": spec.signal,
                "action": spec.action,
                "budget": policy.budget(spec.name),
                "pack": spec.pack,
                "reasons": [
                    {"name": each.name, "summary": each.summary, "action": each.action, "hint": each.hint}
                    for each in known.reasons(spec.name)
                ],
            }
            for spec in known
        ]
    }
    return Result(True, "taxonomy", "", data)
