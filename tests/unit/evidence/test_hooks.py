"""Harness hook payloads, and the answers of hooks, as evidence.

The payloads follow the hook references of Claude Code 2.1, Gemini CLI, Cursor 2, Copilot CLI, Codex and opencode, November 2026.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.evidence import notes
from rerail.evidence.hooks import from_hook_payload
from rerail.evidence.model import Evidence, Source, StreamName


def streams(evidence: Evidence) -> dict[str, str]:
    return {stream.name.value: stream.text for stream in evidence.streams}


def test_a_shell_call_of_claude_code_brings_command_streams_and_place() -> None:
    evidence = from_hook_payload(
        {
            "session_id": "s",
            "transcript_path": "/t.jsonl",
            "cwd": "/w",
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "git push origin main", "description": "Push"},
            "tool_response": {
                "stdout": "to origin",
                "stderr": "! [rejected] main -> main",
                "interrupted": False,
                "isImage": False,
            },
        }
    )
    assert evidence.source is Source.HOOK
    assert evidence.tool == "Bash"
    assert evidence.command == ("git", "push", "origin", "main")
    assert streams(evidence) == {"stderr": "! [rejected] main -> main", "stdout": "to origin"}
    assert (evidence.cwd, evidence.codes, evidence.notes) == ("/w", (), ())


def test_a_failed_call_of_claude_code_brings_its_error_and_exit_code() -> None:
    evidence = from_hook_payload(
        {
            "hook_event_name": "PostToolUseFailure",
            "tool_name": "Bash",
            "tool_input": {"command": "npm test"},
            "error": "Exit code 127\nnpm: command not found",
            "is_interrupt": False,
        }
    )
    assert evidence.exit_code == 127
    assert streams(evidence) == {"message": "Exit code 127\nnpm: command not found"}


def test_an_interrupted_call_is_noted() -> None:
    payload = {
        "tool_name": "Bash",
        "tool_input": {"command": "sleep 9"},
        "tool_response": {"stdout": "", "interrupted": True},
    }
    assert from_hook_payload(payload).notes == (notes.INTERRUPTED,)


def test_a_failed_mcp_tool_s_text_is_the_message() -> None:
    evidence = from_hook_payload(
        {
            "tool_name": "mcp__linear__create_issue",
            "tool_input": {"title": "x", "password": "hunter2"},
            "tool_response": {
                "content": [{"type": "text", "text": "missing required field: workspace_id"}],
                "isError": True,
            },
        }
    )
    assert streams(evidence) == {"message": "missing required field: workspace_id"}
    assert "hunter2" not in repr(evidence)


DENIALS = [
    (
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "no pushes",
            }
        },
        "permissionDecision=deny",
    ),
    ({"decision": "block", "reason": "no pushes"}, "decision=block"),
    ({"decision": "deny", "reason": "no pushes"}, "decision=deny"),
    ({"continue": False, "stopReason": "no pushes"}, "continue=false"),
    ({"permission": "deny", "user_message": "no pushes"}, "permission=deny"),
    (
        {
            "hook_event_name": "PermissionDenied",
            "tool_name": "Bash",
            "tool_input": {"command": "git push"},
            "reason": "no pushes",
        },
        "PermissionDenied",
    ),
    ({"behavior": "deny", "message": "x", "reason": "no pushes"}, "behavior=deny"),
]


@pytest.mark.parametrize(("payload", "code"), DENIALS)
def test_a_denial_is_a_code_and_its_reason_the_message(payload: dict[str, object], code: str) -> None:
    evidence = from_hook_payload(payload)
    assert evidence.codes == (code,)
    assert "no pushes" in streams(evidence)["message"]


@pytest.mark.parametrize(
    "payload",
    [
        {"hookSpecificOutput": {"permissionDecision": "allow", "permissionDecisionReason": "fine"}},
        {"decision": "approve", "reason": "fine"},
        {"continue": True},
        {"permission": "allow"},
        {"hook_event_name": "SessionEnd", "reason": "logout"},
        {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}},
    ],
)
def test_what_denies_nothing_says_nothing(payload: dict[str, object]) -> None:
    evidence = from_hook_payload(payload)
    assert (evidence.codes, evidence.streams) == ((), ())


def test_gemini_s_result_is_read() -> None:
    evidence = from_hook_payload(
        {
            "hook_event_name": "AfterTool",
            "tool_name": "run_shell_command",
            "tool_input": {"command": "make"},
            "tool_response": {
                "llmContent": "Command: make\nDirectory: (root)\nOutput: no rule to make target\nExit Code: 2",
                "returnDisplay": "no rule",
                "error": {"message": "make failed", "type": "shell_execute_error"},
            },
        }
    )
    assert evidence.exit_code == 2
    assert evidence.codes == ("shell_execute_error",)
    assert streams(evidence)["message"] == "make failed"
    assert "no rule to make target" in streams(evidence)["stdout"]


@pytest.mark.parametrize(
    ("payload", "command", "code", "note"),
    [
        (
            {
                "hook_event_name": "postToolUseFailure",
                "tool_name": "Shell",
                "tool_input": {"command": "make"},
                "error_message": "slow",
                "failure_type": "timeout",
            },
            ("make",),
            ("timeout",),
            (notes.TIMED_OUT,),
        ),
        (
            {
                "hook_event_name": "postToolUseFailure",
                "tool_name": "Write",
                "tool_input": {},
                "error_message": "no",
                "failure_type": "permission_denied",
            },
            (),
            ("permission_denied",),
            (),
        ),
        (
            {"hook_event_name": "afterShellExecution", "command": "make", "output": "*** Error 1", "duration": 12},
            ("make",),
            (),
            (),
        ),
    ],
)
def test_cursor_s_payloads_are_read(
    payload: dict[str, object], command: tuple[str, ...], code: tuple[str, ...], note: tuple[str, ...]
) -> None:
    evidence = from_hook_payload(payload)
    assert (evidence.command, evidence.codes, evidence.notes) == (command, code, note)
    assert evidence.streams


def test_output_that_is_json_text_is_read_as_json() -> None:
    evidence = from_hook_payload(
        {
            "tool_name": "Shell",
            "tool_input": '{"command": "make"}',
            "tool_output": '{"exitCode": 2, "stdout": "x", "stderr": "*** Error"}',
        }
    )
    assert (evidence.command, evidence.exit_code) == (("make",), 2)
    assert streams(evidence) == {"stderr": "*** Error", "stdout": "x"}


def test_copilot_s_result_is_read() -> None:
    evidence = from_hook_payload(
        {
            "cwd": "/w",
            "toolName": "bash",
            "toolArgs": '{"command": "make"}',
            "toolResult": {"resultType": "failure", "textResultForLlm": "no rule"},
        }
    )
    assert (evidence.tool, evidence.command, evidence.codes) == ("bash", ("make",), ("failure",))
    assert streams(evidence) == {"stdout": "no rule"}


def test_opencode_s_and_codex_s_results_are_read() -> None:
    opencode = from_hook_payload(
        {
            "tool": "bash",
            "args": {"command": "make"},
            "output": {"title": "t", "output": "*** Error 2", "metadata": {"exit": 2}},
        }
    )
    codex = from_hook_payload(
        {
            "type": "item.completed",
            "item": {
                "type": "command_execution",
                "command": "bash -lc make",
                "aggregated_output": "*** Error 2",
                "exit_code": 2,
                "status": "failed",
            },
        }
    )
    for evidence in (opencode, codex):
        assert evidence.exit_code == 2
        assert streams(evidence) == {"stdout": "*** Error 2"}
    assert codex.command == ("bash", "-lc", "make")
    failed = from_hook_payload({"type": "turn.failed", "error": {"message": "stream disconnected"}})
    assert streams(failed) == {"message": "stream disconnected"}


def test_a_turn_that_the_provider_failed_brings_the_harness_s_word_for_it() -> None:
    evidence = from_hook_payload(
        {"hook_event_name": "StopFailure", "error": "rate_limit", "error_details": "429 Too Many Requests"}
    )
    assert evidence.codes == ("rate_limit",)
    assert "429 Too Many Requests" in streams(evidence)["message"]


def test_a_killed_command_brings_its_signal_and_a_duration_its_unit() -> None:
    evidence = from_hook_payload({"tool_name": "Bash", "tool_response": {"exit_code": -9, "duration_ms": 1500}})
    assert (evidence.exit_code, evidence.signal, evidence.duration_s) == (None, "SIGKILL", 1.5)


NAMES = st.sampled_from(
    [
        "tool_name",
        "tool_input",
        "tool_response",
        "command",
        "stdout",
        "stderr",
        "output",
        "content",
        "error",
        "exit_code",
        "decision",
        "hookSpecificOutput",
        "metadata",
        "item",
        "isError",
        "text",
        "duration_ms",
        "cwd",
        "reason",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, JSON, max_size=8))
def test_any_payload_makes_evidence(payload: dict[str, object]) -> None:
    evidence = from_hook_payload(payload)
    assert evidence.source is Source.HOOK
    repr(evidence).encode()
    assert all(stream.name in StreamName for stream in evidence.streams)
