"""An agent's afternoon: seven things go wrong, each is named before anything is done about it, and nothing is faked.

Real git repositories with real locks and hooks, a real server on the loopback, real processes and signals, all in a temporary
directory. Run it with ``make demo``. It exits with 0 only if every failure got the right name and came to the right end.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema

from rerail import Loop, Unit, parse_block

GIT = ("git", "-c", "user.name=Agent", "-c", "user.email=agent@example.com", "-c", "commit.gpgsign=false")


class Row(NamedTuple):
    """One unit's story, and whether it went as it should."""

    unit: str
    named: str
    attempts: int
    decision: str
    outcome: str
    right: bool


# -- 1. a killed git left its lock --------------------------------------------------------------------------------------


def a_killed_git_leaves_its_lock(place: Path) -> Row:
    """Heal: the lock's owner is dead, so it is moved aside; the change that was not committed yet is still there."""
    repo = new_repository(place / "locked")
    (repo / "app.py").write_text("print('two')\n")
    editor = subprocess.Popen(
        [*GIT, "commit", "-a"], cwd=repo, env={**os.environ, "GIT_EDITOR": "sleep 60 #"}, start_new_session=True
    )
    while not (repo / ".git" / "index.lock").exists():  # git holds it while its editor is open
        assert editor.poll() is None, "git ended before it took its lock"
        time.sleep(0.01)
    os.killpg(editor.pid, signal.SIGKILL)
    editor.wait()
    ended = rerail(repo, "run", "--unit", "commit", "--", *GIT, "commit", "-am", "second")
    kept = git(repo, "show", "HEAD:app.py") == "print('two')\n"
    return row("commit", ended, expected=("git/index-lock", "heal", "succeeded"), also=kept)


# -- 2. a provider is overloaded, then limits, then answers ---------------------------------------------------------------


class Provider(BaseHTTPRequestHandler):
    """Answers 503, then 429 with a Retry-After, then 200."""

    answers = iter([(503, {}), (429, {"Retry-After": "1"}), (200, {})])

    def do_GET(self) -> None:
        status, headers = next(self.answers)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: object) -> None:
        pass


def a_provider_asks_for_patience(loop: Loop) -> Row:
    """Back off: our own curve after the 503, no sooner than the server's own word after the 429."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    started = time.monotonic()

    def ask() -> int:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/v1/messages", timeout=5) as answer:
            status: int = answer.status
            return status

    outcome = loop.run(Unit("ask-model", effects="none"), ask)
    waited_s = time.monotonic() - started
    server.shutdown()
    return library_row("ask-model", outcome, expected=("provider/rate-limit", "retry", "succeeded"), also=waited_s >= 1)


# -- 3. a tool rejects its input ------------------------------------------------------------------------------------------

ISSUE_SCHEMA = {
    "type": "object",
    "required": ["title", "workspace_id"],
    "properties": {"title": {"type": "string"}, "workspace_id": {"type": "string"}},
}


def a_tool_rejects_its_input(loop: Loop) -> Row:
    """Repair: the missing field is in the session's context; the input that was rejected is never sent again."""
    sent: list[dict[str, Any]] = []

    def create_issue(**payload: Any) -> str:
        sent.append(payload)
        jsonschema.validate(payload, ISSUE_SCHEMA)
        return "created"

    unit = Unit("create-issue", effects="none", schema=ISSUE_SCHEMA, context={"workspace_id": "ws-7"})
    outcome = loop.run(unit, create_issue, title="Flaky login")
    changed = sent == [{"title": "Flaky login"}, {"title": "Flaky login", "workspace_id": "ws-7"}]
    return library_row(
        "create-issue", outcome, expected=("tool-schema/missing-field", "repair", "succeeded"), also=changed
    )


# -- 4. a gate denies -----------------------------------------------------------------------------------------------------

GATE = """\
import pathlib, sys
if not pathlib.Path("approved").exists():
    sys.exit("Hook PreToolUse:Bash denied this tool: deploys need the operator's approval")
print("deployed")
"""


def a_gate_denies(place: Path) -> Row:
    """Pause: nothing is retried. The operator approves from another process, and the unit goes on."""
    project = new_repository(place / "gated")
    (project / "deploy.py").write_text(GATE)
    paused = rerail(project, "run", "--unit", "deploy", "--", sys.executable, "deploy.py")
    again = rerail(project, "run", "--unit", "deploy", "--", sys.executable, "deploy.py")
    (project / "approved").touch()
    answered = rerail(project, "answer", str(paused.data["pause"]), "approve", "--note", "checked the change list")
    resumed = rerail(project, "resume", "deploy")
    story = (paused.code, again.code, answered.code, resumed.code)
    as_it_should = story == (75, 75, 0, 0) and again.data["failures"] == []
    return row(
        "deploy", paused, expected=("deterministic-policy/hook-denied", "pause", "paused"), also=as_it_should
    )._replace(outcome="paused, approved, succeeded")


# -- 5. a test fails, with alarming words -----------------------------------------------------------------------------------

TEST = """\
def test_timeout_is_reported_as_429():
    status, message = 200, "upstream timeout: 503 Service Unavailable"
    assert (status, message) == (429, "timeout: rate limit exceeded")
"""


def a_test_fails(place: Path) -> Row:
    """Hand back: the words "timeout" and "429" stand in an assertion and decide nothing; the same files are not tested twice."""
    project = new_repository(place / "tested")
    (project / "test_client.py").write_text(TEST)
    pytest = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    failed = rerail(project, "run", "--unit", "verify:tests", "--", *pytest)
    unchanged = rerail(project, "run", "--unit", "verify:tests", "--", *pytest)
    names_the_test = "test_timeout_is_reported_as_429" in json.dumps(failed.data)
    refused = unchanged.code == 65 and unchanged.data["refused"] is True
    expected = ("verification/tests-failed", "repair", "handed-back")
    return row("verify:tests", failed, expected=expected, also=names_the_test and refused)


# -- 6. a process is killed --------------------------------------------------------------------------------------------------


def a_process_is_killed(place: Path) -> Row:
    """Stop: whoever killed it will kill it again."""
    killed = rerail(place, "run", "--unit", "train", "--", "sh", "-c", "echo epoch 3; kill -9 $$")
    return row("train", killed, expected=("runtime/killed", "stop", "stopped"))


# -- 7. a worktree is broken ---------------------------------------------------------------------------------------------------


def a_worktree_is_broken(place: Path) -> Row:
    """Stop: nothing is spawned into a path that does not resolve, now or later, until a check passes."""
    repo = new_repository(place / "main")
    tree = place / "feature"
    git(repo, "worktree", "add", "-q", str(tree))
    link = (tree / ".git").read_text()
    (tree / ".git").write_text("gitdir: /nowhere/.git/worktrees/feature\n")
    stopped = rerail(tree, "run", "--unit", "build", "--", "touch", "spawned")
    refused = rerail(tree, "run", "--unit", "other", "--", "touch", "spawned")
    never_ran = not (tree / "spawned").exists()
    (tree / ".git").write_text(link)
    mended = rerail(tree, "check")
    as_it_should = refused.code == 70 and never_ran and mended.code == 0
    return row("build", stopped, expected=("worktree/broken-link", "stop", "stopped"), also=as_it_should)


# -- how the story is told -----------------------------------------------------------------------------------------------------


class Ended(NamedTuple):
    """What one rerail command came to."""

    code: int
    data: dict[str, Any]


def rerail(cwd: Path, *words: str) -> Ended:
    """Run a rerail command as an agent would: JSON on stdout is read, blocks on stderr are shown."""
    done = subprocess.run(
        [sys.executable, "-m", "rerail", words[0], "--json", *words[1:]], cwd=cwd, stdout=subprocess.PIPE, check=False
    )
    return Ended(done.returncode, json.loads(done.stdout)["data"])


def row(unit: str, ended: Ended, *, expected: tuple[str, str, str], also: bool = True) -> Row:
    """Return a command's row."""
    first = ended.data["failures"][0]
    got = (f"{first['class']}/{first['reason']}", first["decision"], ended.data["outcome"])
    return Row(unit, got[0], ended.data["attempts"], got[1], got[2], got == expected and also)


def library_row(unit: str, outcome: Any, *, expected: tuple[str, str, str], also: bool) -> Row:
    """Return a callable's row."""
    last = outcome.history[-1]
    named = f"{last.classification.class_}/{last.classification.reason}"
    got = (named, type(last.decision).__name__.lower(), type(outcome).__name__.lower())
    return Row(unit, got[0], outcome.attempts, got[1], got[2], got == expected and also)


def show_block(block: str) -> None:
    """Print a block, which reads back as the values that it was made of."""
    assert parse_block(block).class_
    print(block, file=sys.stderr)


def git(cwd: Path, *words: str) -> str:
    """Run git and return what it printed."""
    return subprocess.run([*GIT, *words], cwd=cwd, stdout=subprocess.PIPE, text=True, check=True).stdout


def new_repository(path: Path) -> Path:
    """Make a repository with one commit."""
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    (path / "app.py").write_text("print('one')\n")
    git(path, "add", ".")
    git(path, "commit", "-qm", "first")
    return path


def main() -> int:
    """Play the afternoon and show how it went."""
    place = Path(tempfile.mkdtemp(prefix="rerail-demo-"))
    os.environ["XDG_STATE_HOME"] = str(place / "state")
    started = time.monotonic()
    try:
        loop = Loop(place, on_block=show_block)
        rows = [
            a_killed_git_leaves_its_lock(place),
            a_provider_asks_for_patience(loop),
            a_tool_rejects_its_input(loop),
            a_gate_denies(place),
            a_test_fails(place),
            a_process_is_killed(place),
            a_worktree_is_broken(place),
        ]
    finally:
        shutil.rmtree(place, ignore_errors=True)
    show_table(rows, time.monotonic() - started)
    return 0 if all(each.right for each in rows) else 1


def show_table(rows: list[Row], took_s: float) -> None:
    """Print what became of each unit."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"The afternoon, in {took_s:.1f} s")
    for heading in ("unit", "class/reason", "attempts", "decision", "outcome", ""):
        table.add_column(heading)
    for each in rows:
        table.add_row(
            each.unit, each.named, str(each.attempts), each.decision, each.outcome, "✓" if each.right else "✗"
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    sys.exit(main())
