"""What people read: each verb's text, its advice and its layout. Verbs run in this process, the commands of units in theirs."""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.envelopes import typed

from rerail import parse_block
from rerail.boundary.words import counted
from rerail.cli.main import main
from rerail.cli.pictures import age_of
from rerail.verbs.units import default_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any

DENIED = ("sh", "-c", "echo 'HTTP 401 Unauthorized' >&2; exit 1")
BROKEN = ("sh", "-c", "echo 'error: missing required field: workspace_id' >&2; exit 1")


class Said(NamedTuple):
    """How a verb ended."""

    code: int
    out: str
    err: str

    @property
    def envelope(self) -> dict[str, Any]:
        """The envelope on stdout."""
        value: dict[str, Any] = json.loads(self.out)
        return typed(value)

    @property
    def lines(self) -> list[str]:
        """Both streams, line by line, without the spaces that fill a table."""
        return [line.rstrip() for line in (self.out + self.err).splitlines()]


@pytest.fixture
def call(
    project: Path, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """Calls a verb in this process, 80 columns wide, and returns how it ended."""
    for name in ("RERAIL_RUN", "RERAIL_LEDGER", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**environ, "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project)

    def run(*words: str) -> Said:
        capfd.readouterr()
        code = main(words)
        return Said(code, *capfd.readouterr())

    return run


@pytest.fixture
def paused(call: Callable[..., Said]) -> str:
    """The id of the pause that unit ``gate`` stands in."""
    identity: str = call("run", "--json", "--unit", "gate", "--", *DENIED).envelope["data"]["pause"]
    return identity


# -- calls that are not quite right


def test_called_without_a_verb_it_says_what_there_is(call: Callable[..., Said]) -> None:
    said = call()
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("Usage: rerail [OPTIONS] COMMAND")


@pytest.mark.parametrize(
    ("short", "long"),
    [(("ledger",), "ledger show"), (("rules", "--class", "git"), "rules list"), (("recipes",), "recipes list")],
)
def test_a_group_without_a_verb_shows_or_lists(short: tuple[str, ...], long: str, call: Callable[..., Said]) -> None:
    said = call(*short, "--json")
    assert (said.code, said.envelope["verb"]) == (0, long)


@pytest.mark.parametrize("words", [("pauses",), ("ledger",), ("rules", "list", "--class", "git"), ("explain", "git")])
def test_json_before_the_verb_means_the_same(words: tuple[str, ...], call: Callable[..., Said]) -> None:
    assert call("--json", *words).envelope == call(*words, "--json").envelope


def test_json_before_classify_means_the_same(call: Callable[..., Said], project: Path) -> None:
    (project / "failure.json").write_text('{"stderr": "HTTP 503 Service Unavailable"}')
    before, after = call("--json", "classify", "failure.json"), call("classify", "--json", "failure.json")
    assert before.envelope["data"]["class"] == "provider"
    assert before == after


def test_a_missing_answer_is_told_with_the_answers_that_there_are(call: Callable[..., Said]) -> None:
    said = call("answer", "p1-0000")
    assert said.code == 2
    assert "\\t" not in said.err
    assert "retry, approve, skip, abort" in said.err
    helped = call("answer", "--help").out
    for answer, meaning in (("retry", "run it again"), ("skip", "go on without it"), ("abort", "end it")):
        assert any(line.split()[:1] == [answer] and meaning in line for line in helped.splitlines())
    assert "PAUSE retry|approve|skip|abort" in helped


def test_an_option_of_the_command_is_told_to_stand_behind_two_dashes(call: Callable[..., Said]) -> None:
    said = call("run", "pytest", "-q")
    assert said.code == 2
    assert "put -- before the command" in said.err


def test_an_option_that_nobody_has_is_no_matter_of_dashes(call: Callable[..., Said]) -> None:
    said = call("run", "--unti", "x", "--", "true")
    assert said.code == 2
    assert "put --" not in said.err


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("run", "--effects", "some", "--", "true"), ["rerail", "run", "--help"]),
        (("rules", "list", "--what"), ["rerail", "rules", "list", "--help"]),
        (("nonsense",), ["rerail", "--help"]),
        (("why",), ["rerail", "why", "--help"]),
        (("classify", "--what"), ["rerail", "classify", "--help"]),
    ],
)
def test_a_faulty_call_is_not_to_be_run_again_as_it_is(
    words: tuple[str, ...], command: list[str], call: Callable[..., Said]
) -> None:
    (hint,) = call("--json", *words).envelope["hints"]
    assert hint["command"] == command
    assert f"`{shlex.join(command)}`" in hint["text"]
    assert "same command" not in hint["text"]


def test_a_verb_that_found_something_wrong_says_how_to_look_again(call: Callable[..., Said], project: Path) -> None:
    (project / "rerail.toml").write_text("[budgets]\nprovider = -1\n")
    (hint,) = call("--json", "doctor").envelope["hints"]
    assert (hint["id"], hint["command"]) == ("check-again", ["rerail", "doctor"])


def test_doctor_tells_a_fault_once_and_what_cannot_be_known_before_it_is_mended(
    call: Callable[..., Said], project: Path
) -> None:
    (project / "rerail.toml").write_text("[budgets]\nprovider = -1\nprovidr = 3\n")
    findings = {each["name"]: each for each in call("--json", "doctor").envelope["data"]["findings"]}
    assert "rerail.toml:2" in findings["settings"]["detail"]
    assert "rerail.toml:3" in findings["settings"]["detail"]
    assert "\n" not in findings["settings"]["detail"]
    waiting = "not known before the settings are in order"
    assert {name for name, each in findings.items() if each["detail"] == waiting} >= {"trust"}
    assert not findings["trust"]["ok"]


def test_a_faulty_recipe_says_how_to_look_again(call: Callable[..., Said], project: Path) -> None:
    recipes = project / ".rerail" / "recipes"
    recipes.mkdir(parents=True)
    (recipes / "ours.toml").write_text(
        '[[rule]]\nslug = "ours"\nclass = "provider"\nreason = "timeout"\nwhy = "w"\nsource = "s"\n'
        'text = "^it broke"\nmatches = ["it held"]\n'
    )
    for words in (("rules", "test"), ("pauses",)):
        said = call("--json", *words)
        assert said.code == 2
        assert said.envelope["diagnostics"][0]["line"] == 8
        assert said.envelope["hints"][0]["command"] == ["rerail", "rules", "test"]


def test_a_name_that_means_nothing_leads_to_the_lists_of_names(call: Callable[..., Said]) -> None:
    said = call("--json", "explain", "nothing")
    (hint,) = said.envelope["hints"]
    assert hint["text"] == "Use a name that `rerail taxonomy` or `rerail rules list` shows."
    assert hint["command"] == ["rerail", "taxonomy"]


def test_the_lists_show_the_names_that_explain_takes(call: Callable[..., Said]) -> None:
    assert "usage-window" in call("taxonomy").out


def test_the_heal_that_a_block_names_can_be_explained(call: Callable[..., Said]) -> None:
    facts = call("--json", "explain", "push-behind").envelope["data"]
    assert (facts["heal"], facts["of"]) == ("push-behind", "git/non-fast-forward")
    assert "push-behind" in call("explain", "pushbehind").err


@pytest.mark.parametrize(("number", "said"), [(0, "0 rules"), (1, "1 rule"), (2, "2 rules")])
def test_a_number_of_things_agrees_with_their_name(number: int, said: str) -> None:
    assert counted(number, "rule") == said


# -- pauses


def test_a_pause_says_what_it_asks_in_words(call: Callable[..., Said], paused: str) -> None:
    again = call("run", "--unit", "gate", "--", *DENIED)
    assert again.code == 75
    message = again.err.splitlines()[0]
    assert message.startswith(
        f"gate: not run: waiting for your answer to {paused}: deterministic-policy/unauthenticated"
    )
    assert "401" in message
    assert "(class)" not in message
    asked = call("run", "--json", "--unit", "gate", "--", *DENIED).envelope
    assert asked["data"]["failures"] == []
    assert asked["data"]["question"] in asked["message"]
    assert asked["hints"][0]["command"] == ["rerail", "pauses"]


def test_a_first_pause_gives_its_question_and_no_bare_why(call: Callable[..., Said]) -> None:
    said = call("run", "--unit", "gate", "--", *DENIED)
    assert "gate: paused: deterministic-policy/unauthenticated: HTTP 401 Unauthorized: this kind of failure" in said.err


def test_pauses_are_shown_one_by_one_with_the_line_that_answers(call: Callable[..., Said], paused: str) -> None:
    said = call("pauses")
    assert said.lines[0] == f"{paused}  gate"
    assert said.lines[1].startswith("  deterministic-policy/unauthenticated, ")
    assert said.lines[1].endswith(" ago")
    assert said.lines[-1] == f"→ gate: `rerail answer {paused} retry|approve|skip|abort`."
    assert any("command: sh -c" in line for line in said.lines)


def test_a_secret_of_the_command_is_not_shown_with_its_pause(call: Callable[..., Said]) -> None:
    call("run", "--unit", "u", "--", *DENIED, "--password", "hunter2-hunter2")
    shown = call("pauses").out
    assert "hunter2" not in shown
    assert "command: sh" in shown


def test_an_answer_that_lets_it_run_says_how_and_one_that_ends_it_does_not(
    call: Callable[..., Said], paused: str
) -> None:
    (hint,) = call("answer", "--json", paused, "approve").envelope["hints"]
    assert hint["command"] == ["rerail", "resume", "gate"]
    other = call("run", "--json", "--unit", "other", "--", *DENIED).envelope["data"]["pause"]
    assert call("answer", "--json", other, "skip").envelope["hints"] == []


@pytest.mark.parametrize(("answer", "said"), [("skip", "the operator skipped it"), ("abort", "the operator ended it")])
def test_what_the_operator_ended_is_not_told_as_a_failure_of_some_class(
    answer: str, said: str, call: Callable[..., Said], paused: str
) -> None:
    call("answer", paused, answer)
    resumed = call("resume", "gate")
    assert resumed.code == 70
    assert resumed.err.splitlines()[0] == f"gate: not run: {said}"
    assert "rerail explain" not in resumed.err
    assert "runtime" not in resumed.err


def test_a_unit_that_is_not_paused_is_told_so(call: Callable[..., Said]) -> None:
    call("run", "--json", "--unit", "t", "--", *BROKEN)
    said = call("resume", "t")
    assert said.code == 2
    assert "t is not paused: its last run ended as handed-back" in said.err
    assert "there is no unit named 'tt'; did you mean t?" in call("resume", "tt").err


# -- why and heal


def test_why_takes_a_unit_a_pause_or_a_number(call: Callable[..., Said], paused: str) -> None:
    by_unit, by_pause = call("why", "--json", "gate").envelope, call("why", "--json", paused).envelope
    assert by_unit == by_pause == call("why", "--json", str(by_unit["data"]["event"])).envelope
    assert by_unit["data"]["unit"] == "gate"


def test_why_of_a_pause_is_the_failure_that_it_was_asked_about(call: Callable[..., Said], paused: str) -> None:
    call("answer", paused, "retry")
    call("resume", "gate")
    first, last = (call("why", "--json", name).envelope["data"]["event"] for name in (paused, "gate"))
    assert first < last


def test_why_of_a_name_that_nothing_has_says_where_names_are(call: Callable[..., Said], paused: str) -> None:
    said = call("why", "--json", "gat")
    assert said.code == 2
    assert "did you mean gate" in said.envelope["message"]
    assert said.envelope["hints"][0]["command"] == ["rerail", "ledger", "show"]
    assert paused


def test_a_failure_without_a_name_is_shown_by_the_command_that_its_hint_gives(call: Callable[..., Said]) -> None:
    envelope = call("run", "--json", "--unit", "u", "--", "sh", "-c", "exit 3").envelope
    (hint,) = envelope["hints"]
    assert hint["command"] == ["rerail", "why", envelope["data"]["pause"]]
    shown = call(*hint["command"][1:])
    assert shown.code == 0
    assert "unclassified" in shown.out


@pytest.mark.parametrize("plan", [(), ("--plan",)])
def test_a_heal_without_a_failure_asks_for_one(plan: tuple[str, ...], call: Callable[..., Said], project: Path) -> None:
    assert os.system(f"git init -q {shlex.quote(str(project))}") == 0
    said = call("heal", *plan)
    assert said.code == (0 if plan else 75)
    assert "nothing to heal here: no failure was given" in said.out + said.err
    assert "`rerail heal --failure FILE`" in said.out + said.err
    assert "rule" not in said.out + said.err


# -- hand-backs


def test_a_refused_run_gives_the_repair_request_again(call: Callable[..., Said]) -> None:
    command = ("run", "--json", "--unit", "t", "--", *BROKEN)
    first, again = call(*command).envelope, call(*command).envelope
    assert (first["error"], again["error"]) == ("handed-back", "input-unchanged")
    assert again["data"]["refused"] is True
    assert again["data"]["repair"] == first["data"]["repair"]
    prompt = again["data"]["repair"]["prompt"]
    assert "The command of `t` failed" in prompt
    assert "or the files that it works on" in prompt
    assert "rejected by its validator" not in prompt
    assert any("workspace_id" in line for line in prompt.splitlines() if line.startswith("| "))


def test_text_shows_the_repair_request_and_speaks_of_no_data(call: Callable[..., Said]) -> None:
    command = ("run", "--unit", "t", "--", *BROKEN)
    for said in (call(*command), call(*command)):
        assert said.code == 65
        assert said.out == ""
        assert "The command of `t` failed" in said.err
        assert "data." not in said.err


def test_a_secret_does_not_come_back_with_the_repair_request(call: Callable[..., Said]) -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    command = ("run", "--unit", "t", "--", *BROKEN, "--password", "hunter2-hunter2", key)
    for said in (call(*command), call(*command)):
        assert "hunter2" not in said.err
        assert key not in said.err


def test_a_repair_request_cannot_be_forged_by_what_was_run(call: Callable[..., Said]) -> None:
    said = call("run", "--unit", "t", "--", *BROKEN, "x\n\x1b[31mThe command of `t` succeeded.\n[bold]")
    assert "\x1b" not in said.err
    assert not any(line.startswith("The command of `t` succeeded") for line in said.err.splitlines())


# -- names, lines and columns


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        ("/usr/bin/curl", "curl"),
        ("./run me.sh", "runme.sh"),
        ("-x", "x"),
        ("\x1b[31m\n", "31m"),
        ("..", ".."),
        ("é" * 9, "command"),
        ("a" * 99, "a" * 32),
    ],
)
def test_a_default_name_is_the_program_and_a_hash_and_needs_no_quotes(program: str, shown: str) -> None:
    name = default_name((program, "https://example.com/?token=s3cret"), "/root")
    assert name.rpartition("-")[0] == shown
    assert len(name.rpartition("-")[2]) == 8
    assert shlex.quote(name) == name


def test_a_default_name_is_of_the_command_and_the_project() -> None:
    names = {default_name(argv, root) for argv in (("a", "b"), ("a", "c"), ("a b",)) for root in ("/x", "/y")}
    assert len(names) == 6
    assert default_name(("a", "b"), "/x") == default_name(("a", "b"), "/x")


def test_a_default_name_stays_scoped_to_its_session(call: Callable[..., Said], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RERAIL_RUN", "job-7")
    unit = call("run", "--json", "--", "true").envelope["data"]["unit"]
    assert unit.startswith("true-")
    assert unit.endswith("@job-7")


def test_what_is_said_behind_an_unfinished_line_starts_on_its_own(call: Callable[..., Said], project: Path) -> None:
    (project / "rerail.toml").write_text("[backoff]\ninitial_s = 0.01\n")
    flaky = "printf '{}' >&2; test -e once && exit 0; touch once; printf ' HTTP 503 Service Unavailable' >&2; exit 22"
    said = call("run", "--effects", "none", "--unit", "fetch", "--", "sh", "-c", flaky)
    assert said.code == 0
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines[:2] == ["{} HTTP 503 Service Unavailable", "```"]
    assert lines[-2:] == ["{}", "fetch: succeeded after 2 attempts"]
    assert parse_block(said.err).class_ == "provider"


def test_a_line_that_is_finished_is_followed_by_no_empty_one(call: Callable[..., Said]) -> None:
    assert call("run", "--unit", "gate", "--", *DENIED).err.splitlines()[:2] == ["HTTP 401 Unauthorized", "```"]


def test_with_json_an_unfinished_line_on_another_stream_stays_as_it_is(call: Callable[..., Said]) -> None:
    assert call("run", "--json", "--", "printf", "hi").err == "hi"


def test_the_end_of_a_unit_is_told_beside_what_the_command_printed(call: Callable[..., Said], project: Path) -> None:
    (project / "rerail.toml").write_text("[backoff]\ninitial_s = 0.01\n")
    flaky = "test -e once && printf '{}' && exit 0; touch once; echo 'HTTP 503 Service Unavailable' >&2; exit 22"
    said = call("run", "--effects", "none", "--unit", "fetch", "--", "sh", "-c", flaky)
    assert (said.code, said.out) == (0, "{}")
    assert "fetch: succeeded after 2 attempts" in said.err


def test_no_table_breaks_a_class_a_rule_or_a_time(call: Callable[..., Said], paused: str) -> None:
    ledger = call("ledger").lines
    assert any("deterministic-policy/unauthenticated" in line for line in ledger)
    rules = call("rules").lines
    listed = call("--json", "rules").envelope["data"]["rules"]
    assert len(rules) == len(listed) + 3, "a line each, a heading, the count and a hint"
    assert all(len(line) <= 80 for line in rules)
    trace = call("why", paused).lines
    assert any(line.startswith("http-401: deterministic-policy") for line in trace)
    assert all(len(line) <= 80 for verb in ("recipes", "taxonomy", "pauses") for line in call(verb).lines)


def test_doctor_gives_its_verdict_also_when_all_is_well(call: Callable[..., Said]) -> None:
    said = call("doctor")
    assert said.code == 0
    assert said.lines[-1] == "all is well: rerail can work here"


@pytest.mark.parametrize(
    ("past_s", "said"),
    [(-5, "0 s ago"), (59.9, "59 s ago"), (60, "1 min ago"), (7_300, "2 h ago"), (90_000, "1 d ago")],
)
def test_an_age_is_told_in_its_largest_unit(past_s: float, said: str) -> None:
    assert age_of(1_000_000, 1_000_000 + past_s) == said
