"""What a hook answers to a payload: the block of a failed tool call, and what to do next."""

from __future__ import annotations

import os
import time

from rerail.boundary import hints
from rerail.boundary.block import named_block
from rerail.boundary.result import Result
from rerail.boundary.serialize import serialize_result
from rerail.errors import UsageError
from rerail.hook import record
from rerail.hook.harness import HARNESSES
from rerail.hook.payload import read
from rerail.light_typing import TYPE_CHECKING
from rerail.paths import working_directory
from rerail.taxonomy.actions import Action
from rerail.taxonomy.law import unlawful

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rerail.hook.payload import ToolCall
    from rerail.hook.record import Written
    from rerail.recipes.read import Loaded
    from rerail.rules.model import Classification
    from rerail.taxonomy import Taxonomy

_MOST_RECOVERIES = 100
_BECAUSE = {
    "budget-spent": "the budget of this class is spent",
    "window-spent": "too many recoveries of this class for now",
    "ledger-unusable": "the ledger cannot be used, so its budgets count as spent",
}


def answer_to(harness: str, payload: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what *harness* is to read after a tool call; None where nothing failed.

    Args:
        harness: One of `HARNESSES`.
        payload: What it told the hook.

    Raises:
        RecipeError: The project's recipes have faults.
        SettingsError: Its settings cannot be read.
    """
    call = read(payload)
    cwd = _directory(payload, call)
    if call.succeeded:
        _give_back(harness, call, cwd)
    if not call.failed:
        return None
    result, action = named(harness, call, cwd)
    envelope = serialize_result(result)
    words = "\n".join([str(envelope["message"]), *_texts(envelope["hints"])])
    return HARNESSES[harness].answer(call, words, action in (Action.PAUSE, Action.STOP))


def named(harness: str, call: ToolCall, cwd: str) -> tuple[Result, Action]:
    """Name a failed call and write it down; return what is said of it, and what the agent is to do."""
    from rerail.ledger.location import locate, open_ledger
    from rerail.rules.engine import classify

    loaded, settings = _in_force(cwd)
    at_s = time.time()
    name = classify(call.evidence, loaded.rules, now=at_s)
    location = locate(cwd, os.environ)
    ledger = open_ledger(location)
    try:
        written = record.write(
            ledger,
            call,
            name,
            unit=record.unit_of(call.evidence, harness, call.session),
            action=_action(settings, name, loaded.taxonomy),
            budget=_budget(settings, name, loaded.taxonomy),
            at_s=at_s,
        )
    finally:
        ledger.close()
    spec = loaded.taxonomy.class_spec(name.class_)
    block = named_block(name, _in_words(name, written, loaded.taxonomy), written.balance)
    data = {
        "class": name.class_,
        "reason": name.reason,
        "rule": name.rule,
        "action": written.action,
        "why": written.why,
    }
    steps = [
        hints.act_on_name(failure_class=name.class_, remedy=loaded.taxonomy.reason_spec(name.class_, name.reason).hint),
        hints.heed_pitfall(failure_class=name.class_, pitfall=spec.pitfall),
    ]
    if location.note:
        steps.append(hints.ledger_in_project(path=str(location.path)))
    return Result(True, "hook", block.text, data, hints=tuple(steps)), written.action


def _give_back(harness: str, call: ToolCall, cwd: str) -> None:
    from rerail.ledger.location import locate, open_ledger

    location = locate(cwd, os.environ)
    if not os.path.exists(location.file):  # noqa: PTH110  pathlib costs a hook 5 ms
        return
    ledger = open_ledger(location)
    try:
        record.give_back(ledger, call, record.unit_of(call.evidence, harness, call.session), time.time())
    finally:
        ledger.close()


def _directory(payload: Mapping[str, Any], call: ToolCall) -> str:
    """Return where the call was made: as the harness says where that is a directory, else where the hook runs, or ran."""
    roots = payload.get("workspace_roots")
    named = [payload.get("cwd"), *(roots if isinstance(roots, list) else []), call.evidence.cwd]
    told = [each for each in named if isinstance(each, str) and os.path.isabs(each)]  # noqa: PTH117
    there = next(filter(os.path.isdir, told), None)
    if there is not None:
        return there
    try:
        return working_directory()
    except UsageError:
        # A call that removed the directory it was made in has its name all the same, and the ledger that it had.
        if not told:
            raise
        return told[0]


def _in_force(cwd: str) -> tuple[Loaded, Mapping[str, Any]]:
    """Return the recipes in force, and the settings as their file has them: pydantic, which checks them, costs 200 ms."""
    from rerail.paths import cache_directory, root_above
    from rerail.recipes.read import load
    from rerail.settings_known import known_settings

    root = root_above(cwd)
    cache_dir = cache_directory(os.environ)
    packs, settings = known_settings(root, cache_dir)
    return load(root, packs=packs, cache_dir=cache_dir), settings


def _action(settings: Mapping[str, Any], name: Classification, taxonomy: Taxonomy) -> Action:
    """Return the action in force; a setting that is none, or that its class may not have, is left to those who check it."""
    chosen = _table(settings, "actions").get(f"{name.class_}/{name.reason}")
    if chosen not in list(Action):
        return name.action
    action = Action(chosen)
    return name.action if unlawful(name.class_, action, taxonomy.class_spec(name.class_).severity) else action


def _budget(settings: Mapping[str, Any], name: Classification, taxonomy: Taxonomy) -> int:
    chosen = _table(settings, "budgets").get(name.class_)
    if type(chosen) is int and 0 <= chosen <= _MOST_RECOVERIES:
        return chosen
    return taxonomy.budget(name.class_)


def _table(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = settings.get(name)
    return table if isinstance(table, dict) else {}


def _in_words(name: Classification, written: Written, taxonomy: Taxonomy) -> str:
    """Return what the agent is to do, in words: it repairs and retries by itself, so nothing else says it better."""
    if written.why != "class":
        return f"pause, ask operator ({_BECAUSE[written.why]})"
    if written.action is Action.RETRY and name.retry_after_s is not None:
        return f"wait {name.retry_after_s:.3g} s, then retry (the server asked for it)"
    spec = taxonomy.class_spec(name.class_)
    return spec.advice if written.action is spec.action else str(written.action)


def _texts(hinted: object) -> list[str]:
    assert isinstance(hinted, list)
    return [f"- {hint['text']}" for hint in hinted]
