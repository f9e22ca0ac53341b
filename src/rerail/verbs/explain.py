"""What a name means, whatever kind of name it is: a class, a reason, a rule, a heal, an error slug or an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.boundary.exit_codes import ExitCode
from rerail.boundary.result import Result
from rerail.boundary.slugs import ERROR_FAILURE_RECOVERY, ErrorSlug
from rerail.errors import UnknownNameError
from rerail.recipes.read import heals_in_force

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rerail.app import Project

Facts = list[tuple[str, object]]


def explain(project: Project, name: str) -> Result:
    """Return what *name* means; its data are the facts, in the order in which they are told.

    Raises:
        UnknownNameError: Nothing carries the name.
    """
    rows = next((rows for rows in _explanations(name, project) if rows), None)
    if rows is None:
        raise UnknownNameError("class, reason, rule, heal, slug or exit code", name, _names(project))
    return Result(True, "explain", "", dict(rows))


def _explanations(name: str, project: Project) -> Iterator[Facts]:
    yield _class(name, project)
    yield _reason(name, project)
    yield _rule(name, project)
    yield _heal(name, project)
    yield _slug(name)
    yield _exit_code(name)


def _class(name: str, project: Project) -> Facts:
    taxonomy = project.loaded.taxonomy
    if name not in taxonomy:
        return []
    spec = taxonomy.class_spec(name)
    return [
        ("class", spec.name),
        ("signal", spec.signal),
        ("action", f"{spec.action}: {spec.advice}"),
        ("budget", project.settings.policy.budget(spec.name)),
        ("pitfall", spec.pitfall),
        ("reasons", ", ".join(reason.name for reason in taxonomy.reasons(name))),
        ("pack", spec.pack),
    ]


def _reason(name: str, project: Project) -> Facts:
    class_, slash, short = name.partition("/")
    taxonomy = project.loaded.taxonomy
    if not slash or class_ not in taxonomy:
        return []
    spec = taxonomy.reason_spec(class_, short)
    return [
        ("reason", spec.full_name),
        ("what_happened", spec.summary),
        ("what_to_do", spec.hint),
        ("action", project.settings.policy.actions.get(spec.full_name, spec.action)),
        ("budget", project.settings.policy.budget(class_)),
    ]


def _rule(name: str, project: Project) -> Facts:
    text = project.loaded.texts.get(name)
    if text is None:
        return []
    rule = next(rule for rule in project.loaded.rules.rules if rule.slug == name)
    return [
        ("rule", name),
        ("class", f"{rule.class_}/{rule.reason}"),
        ("why", text.why),
        ("source", text.source),
        ("recipe", text.pack),
    ]


def _heal(name: str, project: Project) -> Facts:
    heal = next((heal for heal in heals_in_force(project.root) if heal.slug == name), None)
    if heal is None:
        return []
    return [
        ("heal", name),
        ("of", ", ".join(f"{heal.class_}/{reason}" for reason in heal.reasons)),
        ("sees", heal.sees),
        ("why", heal.why),
        ("source", heal.source),
        ("asks", heal.question),
        ("undo", heal.undo),
        ("recipe", heal.pack),
    ]


def _slug(name: str) -> Facts:
    if name not in ErrorSlug.__members__.values():
        return []
    recovery = ERROR_FAILURE_RECOVERY[ErrorSlug(name)]
    return [
        ("slug", name),
        ("returned_by", recovery.producers),
        ("correction", recovery.audit),
        ("mode", recovery.mode),
    ]


def _exit_code(name: str) -> Facts:
    if not name.isdecimal() or int(name) not in set(ExitCode):
        return []
    meaning = next(code.meaning for code in ExitCode if code == int(name))
    return [("exit_code", name), ("meaning", meaning)]


def _names(project: Project) -> list[str]:
    taxonomy = project.loaded.taxonomy
    reasons = [reason.full_name for spec in taxonomy for reason in taxonomy.reasons(spec.name)]
    heals = [heal.slug for heal in heals_in_force(project.root)]
    return [*(spec.name for spec in taxonomy), *reasons, *project.loaded.texts, *heals, *ErrorSlug]
