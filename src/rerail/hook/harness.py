"""The harnesses: what each reads from a hook's stdout, and how a project tells it to call one.

Sources: the hook references of Claude Code 2.1, Codex, Gemini CLI and Cursor 2, November 2026.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from rerail.hook.payload import ToolCall


class Harness(NamedTuple):
    """One harness."""

    answer: Callable[[ToolCall, str, bool], dict[str, Any]]
    """Returns what to print, from the call, the words for the agent, and whether it must not go on by itself."""
    file: str
    """Where its hooks are configured, below the project."""
    config: dict[str, Any]
    """What to write there."""


def _claude(call: ToolCall, words: str, is_gate: bool) -> dict[str, Any]:
    if is_gate and call.event == "PostToolUse":
        # The call is over; a block only makes the model read the reason before it goes on.
        return {"decision": "block", "reason": words}
    return {"hookSpecificOutput": {"hookEventName": call.event or "PostToolUse", "additionalContext": words}}


def _gemini(call: ToolCall, words: str, _is_gate: bool) -> dict[str, Any]:
    # A denial would hide the tool's own result from the model.
    return {"hookSpecificOutput": {"hookEventName": call.event or "AfterTool", "additionalContext": words}}


def _cursor(_call: ToolCall, words: str, _is_gate: bool) -> dict[str, Any]:
    return {"additional_context": words}


def _groups(events: tuple[str, ...], command: str, **more: object) -> dict[str, Any]:
    hook = {"type": "command", "command": command, **more}
    return {"hooks": {event: [{"matcher": "*", "hooks": [hook]}] for event in events}}


HARNESSES = {
    "claude-code": Harness(
        _claude,
        ".claude/settings.json",
        _groups(("PostToolUse", "PostToolUseFailure"), "rerail hook claude-code", timeout=10),
    ),
    "codex": Harness(_claude, ".codex/hooks.json", _groups(("PostToolUse",), "rerail hook codex", timeout=10)),
    "gemini": Harness(_gemini, ".gemini/settings.json", _groups(("AfterTool",), "rerail hook gemini", timeout=10_000)),
    "cursor": Harness(
        _cursor,
        ".cursor/hooks.json",
        {
            "version": 1,
            "hooks": {event: [{"command": "rerail hook cursor"}] for event in ("postToolUse", "postToolUseFailure")},
        },
    ),
}
"""Every harness, by the name that ``rerail hook`` takes."""
