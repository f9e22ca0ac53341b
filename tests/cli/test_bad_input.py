"""Bad input of every kind gets a clear message and an exit code, never a traceback, and loses nothing."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.conftest import Done

if TYPE_CHECKING:
    from tests.cli.conftest import Rerail, Start
    from tests.repositories import Repo

PYTHON = sys.executable


def refused(done: Done, *said: str, code: int = 2) -> None:
    """Hold a command to a clear refusal."""
    assert done.code == code, done.text
    assert "Traceback" not in done.text
    for part in said:
        assert part in done.text


RULE = """
[[rule]]
slug = "ours"
class = "{class_}"
reason = "timeout"
why = "it says so"
source = "observed"
{key} = "^it broke"
matches = ["it broke"]
"""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[[rule]\n", ("ours.toml:1",)),
        (RULE.format(class_="provder", key="text"), ("ours.toml:4", "provder", "provider")),
        (RULE.format(class_="provider", key="txet"), ("ours.toml:8", "txet", "text")),
        (
            '[[class]]\nname = "own"\nsignal = "s"\naction = "pause"\nbudget = -1\nadvice = "a"\npitfall = "p"\n',
            ("ours.toml:5",),
        ),
        (RULE.format(class_="provider", key="text").replace("it broke", "(a+)+$"), ("ours.toml:8",)),
        ("\udcff", ("ours.toml", "UTF-8")),
    ],
    ids=["not toml", "unknown class", "unknown key", "negative budget", "nested quantifier", "not utf-8"],
)
def test_a_faulty_recipe_is_told_with_its_line(
    content: str, said: tuple[str, ...], project: Path, rerail: Rerail
) -> None:
    recipes = project / ".rerail" / "recipes"
    recipes.mkdir(parents=True)
    (recipes / "ours.toml").write_bytes(content.encode("utf-8", "surrogateescape"))
    for words in (("rules", "list"), ("run", "--", "true"), ("classify", "-")):
        refused(rerail(*words), *said)


def test_all_faults_of_a_recipe_are_told_at_once(project: Path, rerail: Rerail) -> None:
    recipes = project / ".rerail" / "recipes"
    recipes.mkdir(parents=True)
    (recipes / "ours.toml").write_text(
        RULE.format(class_="provder", key="text") + RULE.format(class_="git", key="txet")
    )
    done = rerail("rules", "list", "--json")
    refused(done)
    assert len(done.envelope["diagnostics"]) >= 2


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("[budgets]\nprovider = -1\n", ("rerail.toml:2", "-1")),
        ("[budgets]\nprovidr = 1\n", ("rerail.toml:2", "provider")),
        ("[backof]\n", ("rerail.toml:1", "backoff")),
        ('[actions]\n"deterministic-policy/hook-denied" = "retry"\n', ("rerail.toml:2", "only pauses or stops")),
        ("packs = 3\n", ("rerail.toml:1",)),
        ("= 1\n", ("rerail.toml:1",)),
    ],
)
def test_faulty_settings_are_told_with_their_line(
    settings: str, said: tuple[str, ...], project: Path, rerail: Rerail
) -> None:
    (project / "rerail.toml").write_text(settings)
    refused(rerail("run", "--", "true"), *said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nonsense",), ("nonsense",)),
        (("rn", "--", "true"), ("did you mean run",)),
        (("run",), ()),
        (("run", "--effects", "some", "--", "true"), ("--effects",)),
        (("run", "--unit", "", "--", "true"), ("name",)),
        (("run", "--unit", "a\nb", "--", "true"), ("name",)),
        (("answer", "nope", "retry"), ("nope",)),
        (("resume", "nope"), ("nope",)),
        (("explain", "providr"), ("provider",)),
        (("why", "x"), ("x",)),
        (("why", "9"), ()),
        (("classify", "--what"), ("--what",)),
        (("classify", "missing.json"), ("missing.json",)),
        (("heal", "--failure", "missing.json"), ("missing.json",)),
    ],
)
def test_a_call_that_cannot_be_done_says_why(words: tuple[str, ...], said: tuple[str, ...], rerail: Rerail) -> None:
    refused(rerail(*words), *said)


@pytest.mark.parametrize(
    "evidence",
    [b'{"exit_code": "one", "stdrr": "x"}', b'{"stdout": 3}', b'{"headers": [1], "http_status": "many"}'],
)
def test_evidence_with_faults_is_told_whole(evidence: bytes, rerail: Rerail) -> None:
    refused(rerail("classify", "-", stdin=evidence))


def test_a_batch_goes_on_after_a_line_that_cannot_be_read(rerail: Rerail) -> None:
    done = rerail(
        "classify", "--batch", "--json", "-", stdin=b'{"id": 1, "stderr": "x"}\nnot json\n{"id": 3, "exit_code": 1}\n'
    )
    assert done.code == 2
    lines = done.out.splitlines()
    assert len(lines) == 3
    assert b'"id": 3' in lines[2]


@pytest.mark.parametrize("junk", [b"\xff\xfe\x00\xd8" * 50, b"\x00" * 1000, b"\x1b[31m\x1b]0;title\x07" * 50])
def test_streams_of_any_bytes_pass_through_untouched_and_are_classified(
    junk: bytes, project: Path, rerail: Rerail
) -> None:
    (project / "junk").write_bytes(junk)
    done = rerail("run", "--unit", "u", "--", "sh", "-c", "cat junk; cat junk >&2; exit 3")
    assert done.code == 75
    assert done.out.startswith(junk)
    assert done.err.startswith(junk)
    shown = done.err[len(junk) :]
    assert b"\x1b" not in shown
    assert b"\x00" not in shown


@pytest.mark.slow
def test_two_hundred_megabytes_of_output_stream_through(project: Path, environ: dict[str, str]) -> None:
    child = "import sys\nfor _ in range(200): sys.stdout.write(('x' * 99 + '\\n') * 10_000)\nsys.exit(3)"
    with (project / "out").open("wb") as out:
        done = subprocess.run(
            [PYTHON, "-m", "rerail", "run", "--unit", "big", "--", PYTHON, "-c", child],
            cwd=project,
            env=environ,
            stdout=out,
            stderr=subprocess.PIPE,
            timeout=120,
        )
    assert done.returncode == 75
    assert (project / "out").stat().st_size == 200_000_000


@pytest.mark.parametrize(
    ("name", "code"),
    [("no-such-command", 127), ("plain-file", 126), (".", 126)],
    ids=["missing", "no right", "directory"],
)
def test_a_command_that_cannot_be_started_is_a_failure_with_a_name(
    name: str, code: int, project: Path, rerail: Rerail
) -> None:
    (project / "plain-file").write_text("echo hi\n")
    done = rerail("run", "--json", "--unit", "u", "--", f"./{name}" if code == 126 else name)
    assert done.code in (70, 75), done.text
    assert done.envelope["data"]["failures"][0]["class"] in ("environment", "deterministic-policy")


def test_an_unwritable_state_directory_falls_back_to_the_project_and_says_so(
    project: Path, rerail: Rerail, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    env = {"XDG_STATE_HOME": str(tmp_path / "file"), "HOME": str(tmp_path / "file")}
    done = rerail("run", "--unit", "u", "--", "sh", "-c", "exit 3", env=env)
    assert done.code == 75, done.text
    assert f"The ledger is {project}/.rerail/ledger.sqlite3, inside the project" in done.text
    assert (project / ".rerail" / ".gitignore").read_text().startswith("*\n")
    assert "cannot be written" in rerail("doctor", "--json", env=env).text
    assert rerail("run", "--", "true", env=env) == (0, b"", b""), "a success says nothing of its own"


def test_without_a_home_it_works_all_the_same(rerail: Rerail, environ: dict[str, str]) -> None:
    env = {"HOME": None, "XDG_STATE_HOME": None, "XDG_CACHE_HOME": None}
    assert rerail("run", "--unit", "u", "--", "true", env=env).code == 0
    assert "Traceback" not in rerail("run", "--unit", "u", "--", "false", env=env).text


@pytest.mark.parametrize(
    "content", [b"not a database", b"SQLite format 3\x00garbage", b""], ids=["text", "damaged", "empty"]
)
def test_a_ledger_that_cannot_be_read_counts_as_spent_and_is_left_as_it_is(
    content: bytes, rerail: Rerail, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    ledger.write_bytes(content * 200)
    done = rerail("run", "--unit", "u", "--", "touch", "ran", env={"RERAIL_LEDGER": str(ledger)})
    if content:
        refused(done, "ledger")
        assert not (tmp_path / "project" / "ran").exists()
        assert ledger.read_bytes() == content * 200


def test_two_runs_of_one_unit_at_once_do_not_mix(project: Path, start: Start, rerail: Rerail) -> None:
    os.mkfifo(project / "gate")
    first = start(
        "run",
        "--unit",
        "u",
        "--",
        "sh",
        "-c",
        "echo started; cat gate",
        stdout=subprocess.PIPE,
    )
    assert first.stdout is not None
    assert first.stdout.readline() == b"started\n"
    second = rerail("run", "--unit", "u", "--", "touch", "ran")
    refused(second, "u", code=75)
    assert not (project / "ran").exists()
    (project / "gate").write_text("go on\n")
    assert first.stdout.read() == b"go on\n"
    first.stdout.close()
    assert first.wait(timeout=60) == 0


def test_a_closed_stdout_changes_nothing_but_what_is_seen(project: Path, environ: dict[str, str]) -> None:
    command = [PYTHON, "-m", "rerail", "run", "--json", "--unit", "u", "--", "sh", "-c", "echo hi; exit 3"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], cwd=project, env=environ, stderr=subprocess.PIPE, timeout=60
    )
    assert done.returncode == 75
    assert b"Traceback" not in done.stderr


def test_a_closed_stderr_puts_nothing_of_ours_on_stdout(project: Path, environ: dict[str, str]) -> None:
    command = [PYTHON, "-m", "rerail", "run", "--unit", "u", "--", "sh", "-c", "echo hi; exit 3"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *command], cwd=project, env=environ, stdout=subprocess.PIPE, timeout=60
    )
    assert (done.returncode, done.stdout) == (75, b"hi\n")


def test_a_reader_that_leaves_a_list_is_no_failure(project: Path, environ: dict[str, str]) -> None:
    process = subprocess.Popen(
        ["sh", "-c", '"$@"; echo "ended with $?" >&2', "sh", PYTHON, "-m", "rerail", "rules"],
        cwd=project,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b"ended with 0\n"
    process.stderr.close()
    process.wait(timeout=60)


def test_a_reader_that_leaves_ends_nothing(project: Path, start: Start) -> None:
    child = "import sys\nfor n in range(20_000): print(n)\nopen('finished', 'w').close()"
    process = start(
        "run",
        "--unit",
        "u",
        "--",
        PYTHON,
        "-c",
        child,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    told = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    assert b"Traceback" not in told
    assert (project / "finished").exists()


def test_a_unit_that_killed_its_host_is_parked_and_not_run_again(
    project: Path, environ: dict[str, str], rerail: Rerail
) -> None:
    killer = "import os, signal; open('ran', 'a').write('x'); os.kill(os.getppid(), signal.SIGKILL)"
    command = [PYTHON, "-m", "rerail", "run", "--unit", "killer", "--", PYTHON, "-c", killer]
    first = subprocess.run(command, cwd=project, env=environ, capture_output=True, timeout=60)
    assert first.returncode == -9
    deadline = time.monotonic() + 30
    while not (project / "ran").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    second = rerail("run", "--json", "--unit", "killer", "--", PYTHON, "-c", killer)
    assert second.code == 75, second.text
    assert second.envelope["data"]["failures"][0]["reason"] == "host-gone"
    assert (project / "ran").read_text() == "x"
    assert rerail("run", "--unit", "other", "--", "true").code == 0, "it does not block others"


def test_what_a_killed_host_left_running_is_named_and_no_second_copy_is_started(
    project: Path, start: Start, rerail: Rerail
) -> None:
    waits = "import os, sys, time; open('ran', 'a').write(f'{os.getpid()} '); time.sleep(300)"
    command = ("run", "--unit", "long", "--", PYTHON, "-c", waits)
    host = start(*command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not ((project / "ran").exists() and (project / "ran").read_text().endswith(" ")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    host.kill()
    host.wait()
    orphan = int((project / "ran").read_text())

    def ask() -> str:
        envelope = rerail("--json", *command).envelope
        assert envelope["data"]["outcome"] == "paused"
        assert f"what it started still runs: process {orphan} (" in envelope["message"]
        return str(envelope["data"]["pause"])

    try:
        first = ask()
        assert ask() == first, "while the question is open it is the same one"
        rerail("answer", first, "retry")
        second = ask()
        assert second != first
    finally:
        os.kill(orphan, signal.SIGKILL)
    rerail("answer", second, "retry")
    assert rerail("run", "--unit", "long", "--", "true").code == 0
    assert (project / "ran").read_text() == f"{orphan} "


@pytest.mark.parametrize("evidence", [b"{}", b'{"exitcode": 1}', b'{"stdrr": "x", "exit_code": 1}'])
def test_a_slip_in_evidence_is_told_and_not_taken_for_a_text(evidence: bytes, rerail: Rerail) -> None:
    done = rerail("classify", "--json", "-", stdin=evidence)
    refused(done)
    assert done.envelope["error"] == "evidence-invalid"


def test_a_tools_own_error_object_is_a_text(rerail: Rerail) -> None:
    done = rerail(
        "classify", "--json", "-", stdin=b'{"error": {"code": "insufficient_quota", "type": "billing"}, "status": 429}'
    )
    assert done.envelope["data"]["class"] == "deterministic-policy", done.text


def test_the_id_of_evidence_is_passed_through(rerail: Rerail) -> None:
    assert rerail("classify", "--json", "-", stdin=b'{"id": 7, "exit_code": 1}').envelope["data"]["id"] == 7


def test_nothing_is_started_from_a_directory_that_is_gone(project: Path, environ: dict[str, str]) -> None:
    script = f"mkdir gone && cd gone && rmdir ../gone && exec {PYTHON} -m rerail run --json -- touch {project}/ran"
    done = subprocess.run(["sh", "-c", script], cwd=project, env=environ, capture_output=True, timeout=60)
    assert done.returncode == 70, done.stderr
    assert b'"error": "stopped"' in done.stdout
    assert not (project / "ran").exists()


@pytest.mark.parametrize("name", ["rerail.toml", "pyproject.toml", ".rerail/recipes/ours.toml"])
@pytest.mark.parametrize("place", ["pipe", "device", "directory"])
def test_what_is_no_file_in_the_place_of_one_is_told_and_never_waited_for(
    name: str, place: str, project: Path, rerail: Rerail
) -> None:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if place == "pipe":
        os.mkfifo(path)
    elif place == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    refused(rerail("classify", "-"), path.name, "cannot be read")
    refused(rerail("run", "--", "true"), path.name, "cannot be read")


READERS = [
    ("classify",),
    ("classify", "--batch"),
    ("why", "--failure"),
    ("heal", "--failure"),
    ("rules", "test"),
    ("rules", "learn", "--from"),
    ("recipes", "test"),
    ("eval",),
]
"""The verbs that read a file that is named."""


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_what_is_no_file_is_never_waited_for_where_one_is_named(
    words: tuple[str, ...], project: Path, rerail: Rerail
) -> None:
    os.mkfifo(project / "pipe")
    for name in ("pipe", "/dev/zero"):
        refused(rerail(*words, name, timeout_s=60), f"{name}: cannot be read: is no plain file")


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_what_is_read_whole_has_a_limit_that_is_told(words: tuple[str, ...], project: Path, rerail: Rerail) -> None:
    with (project / "huge").open("wb") as huge:
        huge.truncate(64 * 1024 * 1024 + 1)
    done = rerail(*words, "huge")
    refused(done, "huge: ", "16 MB" if words[0] == "recipes" else "64 MB")


def test_what_a_shell_hands_in_as_an_open_pipe_is_read(project: Path, environ: dict[str, str]) -> None:
    script = f"{PYTHON} -m rerail classify --batch <(sleep 0.2; echo '{{\"exit_code\": 1}}')"
    done = subprocess.run(["bash", "-c", script], cwd=project, env=environ, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 1), done.stderr


def test_a_batch_is_answered_line_by_line_as_it_comes(start: Start) -> None:
    with start("classify", "--batch", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None
        for number in range(3):
            batch.stdin.write(b'{"id": %d, "exit_code": 1}\n' % number)
            batch.stdin.flush()
            assert json.loads(batch.stdout.readline())["id"] == number


@pytest.mark.parametrize("words", [("classify",), ("hook", "claude-code"), ("heal", "--failure", "-")], ids=" ".join)
def test_a_standard_input_that_is_closed_is_told(
    words: tuple[str, ...], project: Path, environ: dict[str, str]
) -> None:
    script = shlex.join([PYTHON, "-m", "rerail", *words]) + " <&-"
    done = subprocess.run(["sh", "-c", script], cwd=project, env=environ, capture_output=True, check=False, timeout=60)
    assert done.returncode == (0 if words[0] == "hook" else 2)
    assert b"standard input is closed" in done.stderr


GIT_FILES = [
    "commondir",
    "HEAD",
    "index",
    "packed-refs",
    "logs/HEAD",
    "rebase-merge/onto",
    "refs/heads/main",
    "rerail/open-heal.json",
]


@pytest.mark.parametrize("name", GIT_FILES)
def test_a_pipe_in_the_git_directory_is_never_waited_for(name: str, repo: Repo, rerail: Rerail) -> None:
    path = repo.git_dir / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    done = rerail("check", cwd=repo.path, timeout_s=50)
    assert done.code in (0, 70), done.text
    assert b"worktree-safety (resolved):" in done.out


@pytest.mark.parametrize(
    "table", ["[budgets]\nprovider = 101\n", "[units.u.budgets]\nprovider = 9999999999999999999\n"]
)
def test_a_budget_beyond_the_most_is_a_fault_of_the_settings(table: str, project: Path, rerail: Rerail) -> None:
    (project / "rerail.toml").write_text(table)
    refused(rerail("pauses"), "rerail.toml:2", "provider", "100")


def test_init_says_what_stands_in_its_way(project: Path, rerail: Rerail) -> None:
    (project / ".rerail").write_text("")
    refused(rerail("init"), ".rerail", "cannot be written")


def from_a_directory_that_is_gone(project: Path, environ: dict[str, str], *words: str, stdin: bytes = b"") -> Done:
    """Run a rerail command in a directory that was removed after it was entered, as an agent removes a worktree."""
    gone = project / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", 'rmdir "$0" && exec "$@"', str(gone), PYTHON, "-m", "rerail", *words],
        cwd=gone,
        env={**environ, "PWD": str(gone)},
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert b"Traceback" not in done.stderr
    assert b"rerail itself failed" not in done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


GONE = [
    ("heal", "--backups"),
    ("heal", "--undo", "x"),
    ("mcp",),
    ("init",),
    ("pauses",),
    ("classify", "-"),
    ("classify", "--batch"),
    ("why",),
    ("explain", "provider"),
    ("taxonomy",),
    ("eval", "x"),
    ("answer", "x", "retry"),
    ("resume", "x"),
    ("ledger",),
    ("rules", "list"),
    ("recipes", "list"),
    ("recipes", "trust", "x"),
    ("doctor",),
]


@pytest.mark.parametrize("words", GONE, ids=" ".join)
def test_a_directory_that_is_gone_is_told_by_every_verb(
    words: tuple[str, ...], project: Path, environ: dict[str, str]
) -> None:
    done = from_a_directory_that_is_gone(project, environ, *words)
    refused(done)
    assert any(said in done.text for said in ("no longer exists", "No such file or directory", "directory that exists"))


@pytest.mark.parametrize("words", [("check",), ("heal", "--plan"), ("heal", "--failure", "-")], ids=" ".join)
def test_a_directory_that_is_gone_is_a_failure_of_the_worktree(
    words: tuple[str, ...], project: Path, environ: dict[str, str]
) -> None:
    done = from_a_directory_that_is_gone(project, environ, *words, "--json", stdin=b'{"message": "x"}')
    assert done.code == (0 if "--plan" in words else 70), done.text
    if words == ("check",):
        assert done.envelope["data"]["lines"][0]["verdict"] == "FAIL"
    else:
        assert (done.envelope["data"]["class"], done.envelope["data"]["reason"]) == ("worktree", "cwd-gone")


def test_a_directory_that_was_made_again_is_not_the_one_that_is_gone(project: Path, environ: dict[str, str]) -> None:
    script = f'mkdir it && cd it && rmdir ../it && mkdir ../it && exec "{PYTHON}" -m rerail check'
    done = subprocess.run(["sh", "-c", script], cwd=project, env=environ, capture_output=True, check=False, timeout=60)
    assert done.returncode == 2, done.stdout
    assert b"no longer exists" in done.stderr


def test_a_hook_in_a_directory_that_is_gone_names_the_call_all_the_same(project: Path, environ: dict[str, str]) -> None:
    failed = {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "error": "HTTP 503 Service Unavailable"}
    told = json.dumps({**failed, "cwd": str(project / "gone")}).encode()
    done = from_a_directory_that_is_gone(project, environ, "hook", "claude-code", stdin=told)
    assert done.code == 0
    assert b"provider" in done.out, done.text
    silent = from_a_directory_that_is_gone(project, environ, "hook", "claude-code", stdin=json.dumps(failed).encode())
    assert silent == (0, b"", b"rerail hook: the working directory no longer exists\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")  # noqa: PTH110
def test_an_export_that_could_not_be_written_is_no_success(project: Path, environ: dict[str, str]) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [PYTHON, "-m", "rerail", "ledger", "export"], cwd=project, env=environ, stdout=full, stderr=-1, check=False
        )
    assert done.returncode == 2
    assert b"the export is incomplete" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_key_of_endless_parts_is_a_fault_and_stops_nobody(project: Path, rerail: Rerail) -> None:
    (project / "rerail.toml").write_text(".".join(["a"] * 50_000) + " = 1\n")
    refused(rerail("taxonomy"), "rerail.toml:1: a key has 100 parts at most")


@pytest.mark.parametrize("words", [("run", "--unit", "u", "--", "echo", "kept"), ("taxonomy", "--json")], ids=" ".join)
def test_what_a_full_disk_swallowed_is_never_called_a_success(
    words: tuple[str, ...], project: Path, environ: dict[str, str]
) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [PYTHON, "-m", "rerail", *words], cwd=project, env=environ, stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    assert done.returncode in (2, 70)
    assert b"No space left on device" in done.stderr
