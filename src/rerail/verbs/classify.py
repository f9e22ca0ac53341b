"""Naming a failure: evidence in, classification out. Nothing is run and nothing is written.

The way that every hook call takes, so it is the standard library alone.
"""

from __future__ import annotations

from rerail.boundary.result import Result
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from rerail.rules.model import Classification


def classifier(cwd: str | PathLike[str]) -> Callable[[object], Classification]:
    """Return what names evidence JSON under the recipes in force in *cwd*.

    Raises:
        RecipeError: The project's recipes have faults.
        SettingsError: Its settings do not say which packs are on.
    """
    import os
    import time

    from rerail.evidence.payload import from_payload
    from rerail.paths import cache_directory, root_above
    from rerail.recipes.read import load
    from rerail.rules.engine import classify
    from rerail.settings_known import known_settings

    root = root_above(os.fspath(cwd))
    cache_dir = cache_directory(os.environ)
    rules = load(root, packs=known_settings(root, cache_dir).packs, cache_dir=cache_dir).rules

    def name(value: object) -> Classification:
        return classify(from_payload(value), rules, now=time.time())

    return name


def classified(named: Classification, identity: object = None) -> Result:
    """Return the result of naming one failure.

    Args:
        named: What it was named.
        identity: The evidence's ``id``, passed through.
    """
    message = f"{named.class_}/{named.reason}: {named.summary}"
    return Result(True, "classify", message, to_json_value(named, identity))


def to_json_value(named: Classification, identity: object = None) -> dict[str, object]:
    """Return a classification in its public shape."""
    return {
        "id": identity,
        "class": named.class_,
        "reason": named.reason,
        "rule": named.rule,
        "summary": named.summary,
        "evidence": [{"stream": str(each.stream), "line": each.line, "text": each.text} for each in named.evidence],
        "action": str(named.action),
        "retry_after_s": named.retry_after_s,
        "trace": [
            {
                "rule": candidate.rule,
                "class": candidate.class_,
                "reason": candidate.reason,
                "trust": candidate.trust.name.lower(),
                "verdict": candidate.verdict,
            }
            for candidate in named.trace
        ],
    }
