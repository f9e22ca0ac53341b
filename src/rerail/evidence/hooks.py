"""What a harness tells its hooks, and what a hook answers, made `Evidence`.

Payloads are read by their fields, not by a harness's name, for the harnesses copy from one another. Known shapes:

- Claude Code, Codex: ``tool_name, tool_input, tool_response`` (``stdout``, ``stderr``, ``interrupted``), ``error`` of a failed
  call; answers with ``hookSpecificOutput.permissionDecision`` or ``decision`` and a reason;
- Gemini CLI: ``tool_response`` with ``llmContent``, ``returnDisplay``, ``error``; answers with ``decision`` and ``reason``;
- Cursor: ``command, output``; ``tool_output`` as JSON text; ``error_message, failure_type``; answers with ``permission``;
- Copilot: ``toolName, toolArgs, toolResult`` (``resultType``, ``textResultForLlm``);
- opencode: ``tool, args, output, metadata.exit``; Codex's events: ``item`` with ``aggregated_output, exit_code``.

A denial is told as a code, ``NAME=VALUE`` as the field was: ``permissionDecision=deny``, ``decision=block``, ``permission=deny``,
``continue=false``; what a harness calls the failure is a code too. The input of a tool is not kept, but for the command in it.
"""

from __future__ import annotations

from rerail.evidence import notes
from rerail.evidence.clip import clip_stream, in_order
from rerail.evidence.command import command_of, program_of
from rerail.evidence.fields import distinct_codes, label
from rerail.evidence.json_facts import code_of, dump, facts_of, parse_whole
from rerail.evidence.lazy import compiled
from rerail.evidence.model import Evidence, Source, StreamName
from rerail.evidence.process import ending
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_TOOL = ("tool_name", "toolName", "tool", "agent_action_name")
_INPUT = ("tool_input", "toolInput", "toolArgs", "args", "arguments", "params")
_RESPONSE = (
    "tool_response",
    "toolResponse",
    "tool_result",
    "toolResult",
    "tool_output",
    "result_json",
    "aggregated_output",
    "output",
    "result",
)
_COMMAND = ("command", "cmd", "command_line", "script")
_CWD = ("cwd", "workingDirectory", "directory", "workdir")
_STDOUT = ("stdout",)
_MERGED = (
    "output",
    "aggregated_output",
    "llmContent",
    "textResultForLlm",
    "content",
    "text",
    "returnDisplay",
    "result",
)
_STDERR = ("stderr",)
_EXIT = ("exit_code", "exitCode", "returncode", "returnCode", "exit")
_ERROR_FLAGS = ("is_error", "isError")
_INTERRUPTED = ("interrupted", "is_interrupt", "isInterrupt")
_SAID = ("error", "error_message", "errorMessage", "error_details")
_REASONS = (
    "reason",
    "permissionDecisionReason",
    "stopReason",
    "user_message",
    "userMessage",
    "agent_message",
    "agentMessage",
)
_DECISIONS = ("permissionDecision", "decision", "permission", "behavior")
_DENIED = ("deny", "denied", "block", "blocked", "reject", "rejected")
_FAILURE_NAMES = ("failure_type", "failureType", "resultType", "error_type", "errorType")
_DENIAL_EVENTS = ("PermissionDenied", "permissionDenied")
# Harnesses put the code into the text where they merge both streams: Claude Code first, Gemini CLI last.
_EXIT_LINE = (
    r"(?mi)^(?:error: )?(?:exit code:? |command exited with (?:a )?(?:non-zero )?(?:status )?(?:exit )?code:? )"
    r"(-?[0-9]{1,10})\b"
)
_MAX_BLOCKS = 100


def from_hook_payload(payload: Mapping[str, object]) -> Evidence:
    """Return the evidence that a harness's hook payload, or a hook's answer, is."""
    call = {**_dict(payload.get("item")), **_dict(payload.get("tool_info")), **payload}
    tool_input = _parsed(_first(call, _INPUT))
    response = _parsed(_first(call, _RESPONSE))
    # A field may stand in the payload, in the response, or in the response's metadata.
    places = [call, *_parts(response), *_parts(call.get("metadata"))]
    denials = [*_denials(call), *_denials(_dict(call.get("hookSpecificOutput")))]

    command = _first(_dict(tool_input), _COMMAND) or _first(call, _COMMAND)
    argv = command_of(command) if isinstance(command, (str, list)) else ()
    said = "\n".join(dict.fromkeys(_said(places, denied=bool(denials), extra=_dict(call.get("hookSpecificOutput")))))
    merged = "\n".join(_texts(response))
    exit_code, signal = ending(_exit_code(places, said, merged))
    is_error = any(_first(place, _ERROR_FLAGS) for place in places)
    if merged and is_error and exit_code is None and signal is None:
        said, merged = "\n".join(filter(None, (said, merged))), ""
    stdout = _text(places, _STDOUT) or merged
    return Evidence(
        Source.HOOK,
        command=argv,
        tool=label(_text([call], _TOOL)) or program_of(argv),
        exit_code=exit_code,
        signal=signal,
        codes=distinct_codes([*denials, *_codes(places, response, is_error=is_error)]),
        streams=in_order(
            message=clip_stream(StreamName.MESSAGE, said),
            stderr=clip_stream(StreamName.STDERR, _text(places, _STDERR)),
            stdout=clip_stream(StreamName.STDOUT, stdout),
        ),
        cwd=label(_text([_dict(tool_input), call], _CWD), 4096),
        duration_s=_duration_s(places),
        notes=tuple(_notes(places)),
    )


def _denials(answer: Mapping[str, object]) -> Iterator[str]:
    for name in _DECISIONS:
        decision = answer.get(name)
        if isinstance(decision, str) and decision.lower() in _DENIED:
            yield f"{name}={decision.lower()}"
    if answer.get("continue") is False:
        yield "continue=false"
    event = answer.get("hook_event_name")
    if event in _DENIAL_EVENTS:
        yield str(event)


def _codes(places: Sequence[Mapping[str, object]], response: object, *, is_error: bool) -> Iterator[str]:
    for place in places:
        failure = code_of(_first(place, _FAILURE_NAMES))
        if failure and failure != "success":
            yield failure
        yield from facts_of({"error": place.get("error")}).codes
    yield from facts_of(response, is_error=is_error).codes


def _said(places: Iterable[Mapping[str, object]], *, denied: bool, extra: Mapping[str, object]) -> Iterator[str]:
    """Yield what the harness or hook says went wrong; a reason counts only where something was denied."""
    for place in (*places, extra):
        for name in (*_SAID, *_REASONS) if denied else _SAID:
            value = place.get(name)
            if isinstance(value, dict):
                yield from facts_of({"error": value}).messages or (dump(value),)
            elif isinstance(value, str) and value.strip():
                yield value


def _exit_code(places: Iterable[Mapping[str, object]], *texts: str) -> int | None:
    for place in places:
        code = _first(place, _EXIT)
        if isinstance(code, int) and not isinstance(code, bool):
            return code
    for text in texts:
        match = compiled(_EXIT_LINE).search(text)
        if match:
            return int(match[1])
    return None


def _duration_s(places: Iterable[Mapping[str, object]]) -> float | None:
    for place in places:
        for name, unit_s in (
            ("duration_ms", 1e-3),
            ("durationMs", 1e-3),
            ("duration_seconds", 1.0),
            ("duration_s", 1.0),
        ):
            value = place.get(name)
            if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e12:
                return value * unit_s
    return None


def _notes(places: Iterable[Mapping[str, object]]) -> Iterator[str]:
    places = list(places)
    if any(_first(place, _INTERRUPTED) is True for place in places):
        yield notes.INTERRUPTED
    if any(
        "timeout" in (place.get("failure_type"), place.get("failureType")) or place.get("timed_out") for place in places
    ):
        yield notes.TIMED_OUT


def _texts(response: object) -> Iterator[str]:
    """Yield the text of a tool's response where its two streams are merged: a string, or content blocks."""
    if isinstance(response, str):
        yield response
    elif isinstance(response, list):
        for block in response[:_MAX_BLOCKS]:
            text = block.get("text") if isinstance(block, dict) else block
            if isinstance(text, str):
                yield text
    elif isinstance(response, dict):
        for name in _MERGED:
            if isinstance(response.get(name), (str, list)):
                yield from _texts(response[name])
                break


def _parts(value: object) -> Iterator[Mapping[str, object]]:
    if isinstance(value, dict):
        yield value
        for name in ("metadata", "result"):
            if isinstance(value.get(name), dict):
                yield value[name]


def _parsed(value: object) -> object:
    """Return *value*, or the object that it is as JSON text."""
    return parse_whole(value) or value if isinstance(value, str) else value


def _dict(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _first(place: Mapping[str, object], names: Iterable[str]) -> object:
    return next((place[name] for name in names if place.get(name) is not None), None)


def _text(places: Iterable[Mapping[str, object]], names: Iterable[str]) -> str:
    for place in places:
        for name in names:
            value = place.get(name)
            if isinstance(value, str) and value:
                return value
    return ""
