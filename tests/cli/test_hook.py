"""``rerail hook``: what each harness tells, what it is answered, what is written down, and that nothing breaks the agent."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail import parse_block
from rerail.hook.harness import HARNESSES
from rerail.hook.payload import read

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Done, Rerail

FAILED: dict[str, dict[str, Any]] = {
    "claude-code": {
        "session_id": "s1",
        "tool_use_id": "t1",
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "tool_input": {"command": "curl https://x"},
        "error": "Exit code 22\nHTTP 503 Service Unavailable",
    },
    "codex": {
        "session_id": "s1",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "curl https://x"},
        "tool_response": "Exit code: 22\nHTTP 503 Service Unavailable",
    },
    "gemini": {
        "session_id": "s1",
        "hook_event_name": "AfterTool",
        "tool_name": "run_shell_command",
        "tool_input": {"command": "curl https://x"},
        "tool_response": {"llmContent": "HTTP 503 Service Unavailable\nExit Code: 22", "returnDisplay": ""},
    },
    "cursor": {
        "conversation_id": "c1",
        "hook_event_name": "postToolUseFailure",
        "tool_name": "Shell",
        "tool_input": {"command": "curl https://x"},
        "error_message": "HTTP 503 Service Unavailable",
        "failure_type": "error",
    },
}
SUCCEEDED = {
    "session_id": "s1",
    "hook_event_name": "PostToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "curl https://x"},
    "tool_response": {"stdout": "error: HTTP 503 Service Unavailable", "stderr": "", "interrupted": False},
}


def tell(rerail: Rerail, harness: str, payload: object, **more: Any) -> Done:
    return rerail("hook", harness, stdin=json.dumps(payload).encode(), **more)


def words_of(done: Done) -> str:
    """Return what the agent gets to read."""
    answer = json.loads(done.out)
    if "decision" in answer:
        assert answer.keys() == {"decision", "reason"}
        return str(answer["reason"])
    return str(answer.get("additional_context") or answer["hookSpecificOutput"]["additionalContext"])


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_failed_call_is_answered_with_its_block_and_what_to_do(rerail: Rerail, harness: str) -> None:
    done = tell(rerail, harness, FAILED[harness])
    assert (done.code, done.err) == (0, b"")
    block = parse_block(words_of(done))
    assert (block.class_, block.remaining, block.budget) == ("provider", 4, 5)
    assert "HTTP 503" in block.evidence_text
    assert "`rerail explain provider`" in words_of(done)


@pytest.mark.parametrize("harness", ["claude-code", "codex", "gemini"])
def test_the_answer_names_the_event_that_the_harness_named(rerail: Rerail, harness: str) -> None:
    answer = json.loads(tell(rerail, harness, FAILED[harness]).out)
    assert answer["hookSpecificOutput"]["hookEventName"] == FAILED[harness]["hook_event_name"]


@pytest.mark.parametrize("harness", ["claude-code", "codex"])
def test_a_gate_after_a_call_makes_the_model_read_the_reason(rerail: Rerail, harness: str) -> None:
    denied = {**FAILED["codex"], "tool_response": "Exit code: 1\nremote: error: GH006: Protected branch update failed"}
    answer = json.loads(tell(rerail, harness, denied).out)
    assert answer["decision"] == "block"
    assert parse_block(answer["reason"]).class_ == "deterministic-policy"


def test_a_call_that_succeeded_is_never_read_by_its_words(rerail: Rerail) -> None:
    assert tell(rerail, "claude-code", SUCCEEDED) == (0, b"", b"")
    assert rerail("ledger", "--json").envelope["data"]["events"] == []


def test_a_call_that_the_user_ended_is_no_failure(rerail: Rerail) -> None:
    ended = {**FAILED["claude-code"], "is_interrupt": True}
    assert tell(rerail, "claude-code", ended) == (0, b"", b"")


@pytest.mark.parametrize(
    "payload",
    [
        {**SUCCEEDED, "hook_event_name": "PreToolUse", "tool_response": None},
        {"conversation_id": "s1", "hook_event_name": "afterShellExecution", "command": "curl x", "output": "HTTP 503"},
        {"hook_event_name": "SessionStart", "session_id": "s1"},
        {"hook_event_name": "Stop", "session_id": "s1"},
    ],
    ids=lambda payload: payload["hook_event_name"],
)
def test_what_is_no_result_is_neither_a_failure_nor_a_success(payload: dict[str, Any]) -> None:
    call = read(payload)
    assert (call.failed, call.succeeded) == (False, False)


def test_what_was_named_is_in_the_ledger_and_why_shows_it(rerail: Rerail) -> None:
    tell(rerail, "claude-code", FAILED["claude-code"])
    shown = rerail("ledger", "--json").envelope["data"]
    assert [(each["unit"], each["class"], each["spent"]) for each in shown["balances"]] == [
        ("claude-code:Bash:curl@s1", "provider", 1)
    ]
    why = rerail("why", "--json").envelope
    assert (why["ok"], why["data"]["unit"]) == (True, "claude-code:Bash:curl@s1")
    assert why["data"]["classification"]["class"] == "provider"


def test_a_call_that_no_rule_can_name_is_drafted_a_rule_for(rerail: Rerail) -> None:
    unknown = {**FAILED["claude-code"], "error": "Exit code 3\nzorkmid: the frobnicator is out of phase"}
    assert parse_block(words_of(tell(rerail, "claude-code", unknown))).class_ == "unclassified"
    (draft,) = rerail("rules", "learn", "--json").envelope["data"]["drafts"]
    assert draft["units"] == ["claude-code:Bash:curl@s1"]


def test_a_call_that_is_told_twice_is_charged_once(rerail: Rerail) -> None:
    tell(rerail, "claude-code", FAILED["claude-code"])
    assert parse_block(words_of(tell(rerail, "claude-code", FAILED["claude-code"]))).remaining == 4
    again = tell(rerail, "claude-code", {**FAILED["claude-code"], "tool_use_id": "t2"})
    assert parse_block(words_of(again)).remaining == 3


def test_a_spent_budget_asks_for_the_operator_and_a_success_gives_it_back(project: Path, rerail: Rerail) -> None:
    (project / "rerail.toml").write_text("[budgets]\nprovider = 1\n")
    calls = [{**FAILED["claude-code"], "tool_use_id": f"t{number}"} for number in range(3)]
    assert "retry" in parse_block(words_of(tell(rerail, "claude-code", calls[0]))).action
    spent = parse_block(words_of(tell(rerail, "claude-code", calls[1])))
    assert (spent.action, spent.remaining, spent.budget) == (
        "pause, ask operator (the budget of this class is spent)",
        0,
        1,
    )
    assert tell(rerail, "claude-code", {**SUCCEEDED, "tool_use_id": "ok"}) == (0, b"", b"")
    assert "retry" in parse_block(words_of(tell(rerail, "claude-code", calls[2]))).action


def test_the_project_s_own_action_holds_unless_it_is_unlawful(project: Path, rerail: Rerail) -> None:
    (project / "rerail.toml").write_text('[actions]\n"provider/overloaded" = "pause"\n')
    done = tell(rerail, "claude-code", FAILED["claude-code"])
    assert parse_block(words_of(done)).action == "pause"
    (project / "rerail.toml").write_text('[actions]\n"deterministic-policy/authentication" = "retry"\n')
    denied = {**FAILED["claude-code"], "error": "Exit code 22\nHTTP 401 Unauthorized", "tool_use_id": "t9"}
    assert "ask the operator" in parse_block(words_of(tell(rerail, "claude-code", denied))).action


def test_a_ledger_that_cannot_be_used_counts_as_spent(rerail: Rerail, tmp_path: Path) -> None:
    done = tell(rerail, "claude-code", FAILED["claude-code"], env={"RERAIL_LEDGER": str(tmp_path)})
    assert done.code == 0
    assert "the ledger cannot be used" in parse_block(words_of(done)).action


def test_a_ledger_inside_of_the_project_is_told(project: Path, rerail: Rerail) -> None:
    done = tell(rerail, "claude-code", FAILED["claude-code"], env={"XDG_STATE_HOME": "/dev/null"})
    assert f"The ledger is {project}/.rerail/ledger.sqlite3" in words_of(done)


BROKEN = [b"", b"x", b"[]", b"7", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 2000, b'"' + b"x" * 100]


@pytest.mark.parametrize("stdin", BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_payload_is_said_aside_and_breaks_nothing(rerail: Rerail, stdin: bytes) -> None:
    done = rerail("hook", "claude-code", stdin=stdin)
    assert (done.code, done.out) == (0, b"")
    assert done.err.startswith(b"rerail hook: ")
    assert b"Traceback" not in done.err


def test_faulty_recipes_and_settings_are_said_aside_and_break_nothing(project: Path, rerail: Rerail) -> None:
    (project / "rerail.toml").write_text("packs = [\n")
    done = tell(rerail, "claude-code", FAILED["claude-code"])
    assert (done.code, done.out) == (0, b"")
    assert b"rerail.toml" in done.err


@pytest.mark.parametrize("words", [(), ("nope",), ("claude-code", "x")])
def test_a_harness_that_does_not_exist_is_told(rerail: Rerail, words: tuple[str, ...]) -> None:
    done = rerail("hook", *words)
    assert (done.code, done.out) == (2, b"")
    assert b"claude-code" in done.err


@pytest.mark.parametrize("harness", HARNESSES)
def test_init_shows_each_harness_s_configuration_and_writes_nothing(
    project: Path, rerail: Rerail, harness: str
) -> None:
    envelope = rerail("init", "--hook", harness, "--json").envelope
    assert f"rerail hook {harness}" in json.dumps(envelope["data"]["config"])
    assert envelope["data"]["file"] in envelope["message"]
    assert list(project.iterdir()) == []


def test_nothing_slow_is_imported_on_the_way(project: Path, environ: dict[str, str], rerail: Rerail) -> None:
    slow = (
        "attr attrs pydantic click rich structlog tenacity psutil inspect asyncio dataclasses subprocess tomllib typing json "
        "pathlib hashlib shlex platformdirs tempfile threading weakref importlib.metadata"
    )
    script = (
        "import sys; sys.argv = ['rerail', 'hook', 'claude-code']\n"
        "from rerail.__main__ import main\n"
        "code = main()\n"
        f"print(sorted(set({slow!r}.split()) & sys.modules.keys()), file=sys.stderr)\n"
        "sys.exit(code)"
    )
    rerail("hook", "claude-code", stdin=json.dumps(FAILED["claude-code"]).encode())  # compiles what is not compiled yet
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=project,
        env=environ,
        input=json.dumps({**FAILED["claude-code"], "tool_use_id": "t2"}).encode(),
        capture_output=True,
    )
    assert (done.returncode, done.stderr.strip()) == (0, b"[]")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)
fields = st.sampled_from(
    [
        "hook_event_name",
        "tool_name",
        "tool_input",
        "tool_response",
        "error",
        "exit_code",
        "isError",
        "session_id",
        "item",
    ]
)


@given(st.dictionaries(fields, json_values))
def test_any_object_is_read(payload: dict[str, Any]) -> None:
    call = read(payload)
    assert not (call.failed and call.succeeded)
    assert call.session.isprintable()
