"""What a harness says of one tool call: whether it failed, and which call it was."""

from __future__ import annotations

from rerail.evidence import notes
from rerail.evidence.hooks import from_hook_payload
from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from rerail.evidence.model import Evidence

_EVENTS = ("hook_event_name", "hookEventName", "eventName")
_RESULT_EVENTS = frozenset(("posttooluse", "aftertool"))
_FAILURE_EVENTS = frozenset(("posttoolusefailure", "permissiondenied", "erroroccurred"))
_ERROR_FLAGS = ("is_error", "isError")
_ERRORS = ("error", "error_message", "errorMessage")
_SESSIONS = ("session_id", "sessionId", "conversation_id", "thread_id", "thread-id")
_CALLS = ("tool_use_id", "toolUseId", "tool_call_id", "toolCallId", "call_id", "generation_id")
_RESPONSES = ("tool_response", "toolResponse", "tool_result", "toolResult", "tool_output", "result_json", "result")
_FAILED_RESULTS = frozenset(("failure", "failed", "error", "denied", "rejected", "timeout"))
_ID_CHARS = 64


class ToolCall(NamedTuple):
    """One tool call, as a harness told it."""

    event: str
    """What the harness calls the event: ``PostToolUse``."""
    failed: bool
    succeeded: bool
    """Known to have; a call that is yet to be made, that the user ended, or of which nothing is known, did neither."""
    evidence: Evidence
    session: str
    """The harness's session; ``""`` where it says none."""
    call: str
    """The call within it; ``""`` likewise."""


def read(payload: Mapping[str, Any]) -> ToolCall:
    """Return the tool call that a hook payload tells of."""
    evidence, event = from_hook_payload(payload), _text(payload, _EVENTS)
    over = notes.INTERRUPTED not in evidence.notes
    failed = over and _is_failure(payload, event, evidence)
    return ToolCall(
        event=event,
        failed=failed,
        succeeded=over and not failed and (event.lower() in _RESULT_EVENTS or evidence.exit_code == 0),
        evidence=evidence,
        session=_text(payload, _SESSIONS),
        call=_text(payload, _CALLS),
    )


def _is_failure(payload: Mapping[str, Any], event: str, evidence: Evidence) -> bool:
    """Whether the call failed, as the harness's own fields say; the words of a call that succeeded are never asked."""
    if event.lower() in _FAILURE_EVENTS:
        return True
    if evidence.signal is not None or evidence.exit_code is not None:
        return evidence.signal is not None or evidence.exit_code != 0
    return any(
        any(place.get(name) is True for name in _ERROR_FLAGS)
        or any(place.get(name) for name in _ERRORS)
        or str(place.get("resultType", "")).lower() in _FAILED_RESULTS
        or str(place.get("failure_type", "")).lower() in _FAILED_RESULTS
        for place in _places(payload)
    )


def _places(payload: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the payload and the response in it, where a harness says that a call failed."""
    from rerail.evidence.json_facts import parse_whole

    yield payload
    for name in _RESPONSES:
        response = payload.get(name)
        if isinstance(response, str):
            response = parse_whole(response)
        if isinstance(response, dict):
            yield response


def _text(payload: Mapping[str, Any], names: tuple[str, ...]) -> str:
    value = next((payload[name] for name in names if isinstance(payload.get(name), str)), "")
    return "".join(char for char in value[:_ID_CHARS] if char.isprintable())
