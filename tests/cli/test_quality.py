"""The verbs that look at the classifier itself: eval, rules learn, rules test of drafts, and why. Each call is a process."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Protocol

    class Done(Protocol):
        code: int
        out: bytes
        err: bytes
        envelope: dict[str, Any]
        text: str

    Rerail = Callable[..., Done]

CASES = [
    {"id": "p1", "input": {"stderr": "HTTP 503 Service Unavailable"}, "label": "provider", "evidence": "503"},
    {"id": "g1", "input": {"stderr": "fatal: not a git repository"}, "label": "git"},
    {"id": "u1", "input": {"stderr": "zork", "exit_code": 3}, "label": "unclassified"},
    {
        "id": "v1",
        "input": {"stdout": "1 failed in 2.57s", "command": "pytest", "exit_code": 1},
        "label": "verification",
    },
    {"id": "x1", "input": {"stderr": "HTTP 503"}, "label": "deterministic-policy", "retry_after_s": 9},
]
"""One of each: right, wrongly named, unknown, of a pack that can be off, and unsafe."""


@pytest.fixture
def corpus(project: Path) -> str:
    (project / "corpus.jsonl").write_text("\n".join(map(json.dumps, CASES)))
    return "corpus.jsonl"


# -- eval


def test_eval_tells_every_figure_and_ends_well_however_low_they_are(rerail: Rerail, corpus: str) -> None:
    done = rerail("eval", corpus, "--json")
    assert done.code == 0
    data = done.envelope["data"]
    assert (data["cases"], data["accuracy"], data["unsafe"], data["wrong"]) == (5, 0.6, 1, 2)
    assert (data["evidence"], data["retry_after"]) == (1.0, 0.0)
    assert [(each["id"], each["truth"], each["given"], each["unsafe"]) for each in data["wrong_cases"]] == [
        ("x1", "deterministic-policy", "provider", True),
        ("g1", "git", "worktree", False),
    ]
    assert data["wrong_cases"][0]["rule"]
    assert [each["id"] for each in data["delays_misread"]] == ["x1"]
    assert data["confusion"]["git"] == {"worktree": 1}


def test_eval_shows_people_the_matrix_and_what_decided_each_wrong_case(rerail: Rerail, corpus: str) -> None:
    done = rerail("eval", corpus, env={"COLUMNS": "80"})
    text = done.out.decode()
    assert done.code == 0
    assert all(len(line.rstrip()) <= 80 for line in text.splitlines())
    assert "x1 (line 5): deterministic-policy named provider  UNSAFE" in text
    assert "g1 (line 2): git named worktree" in text
    assert text.splitlines()[-1] == "5 cases: accuracy 0.6000, macro F1 0.5333, 1 unsafe, 2 wrong"


def test_eval_with_the_core_pack_alone_expects_nothing_of_the_others(rerail: Rerail, corpus: str) -> None:
    data = rerail("eval", corpus, "--packs", "core", "--json").envelope["data"]
    assert data["packs"] == ["core"]
    assert data["confusion"]["unclassified"] == {"unclassified": 2}


def test_a_project_with_the_core_pack_alone_is_scored_so(rerail: Rerail, corpus: str, project: Path) -> None:
    (project / "rerail.toml").write_text('packs = ["core"]\n')
    assert rerail("eval", corpus, "--json").envelope["data"]["packs"] == ["core"]


def test_a_figure_below_what_was_asked_for_fails_with_the_way_to_mend_it(rerail: Rerail, corpus: str) -> None:
    done = rerail("eval", corpus, "--fail-under", "accuracy=0.97,unsafe=0", "--fail-under", "evidence=1", "--json")
    assert done.code == 70
    envelope = done.envelope
    assert envelope["error"] == "below-threshold"
    assert envelope["message"] == (
        "corpus.jsonl: accuracy is 0.6000, expected at least 0.97; unsafe is 1, expected at most 0"
    )
    assert len(envelope["diagnostics"]) == 2
    assert envelope["hints"][0]["command"] == ["rerail", "eval", "corpus.jsonl"]
    assert envelope["data"]["wrong_cases"]


def test_figures_that_are_reached_end_well(rerail: Rerail, corpus: str) -> None:
    assert rerail("eval", corpus, "--fail-under", "accuracy=0.6,unsafe=1,wrong=2,macro-f1=0.5").code == 0


def test_a_corpus_is_read_from_stdin_too(rerail: Rerail) -> None:
    done = rerail("eval", "-", "--json", stdin=json.dumps(CASES[0]).encode())
    assert done.envelope["data"]["accuracy"] == 1.0


def test_the_picture_is_saved_beside_the_figures(rerail: Rerail, corpus: str, project: Path) -> None:
    done = rerail("eval", corpus, "--picture", "matrix.svg", "--json")
    assert done.envelope["data"]["picture"] == "matrix.svg"
    root = ET.parse(project / "matrix.svg").getroot()
    assert {"corpus.jsonl", "deterministic-policy"} <= {element.text for element in root.iter()}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("absent.jsonl",), "absent.jsonl: cannot be read"),
        (("corpus.jsonl", "--fail-under", "speed=1"), "there is no figure 'speed'; there are accuracy, macro_f1"),
        (("corpus.jsonl", "--fail-under", "accuracy"), "accuracy: expected a number"),
        (("corpus.jsonl", "--fail-under", "accuracy=97"), "accuracy: expected a number from 0 to 1, got '97'"),
        (("corpus.jsonl", "--fail-under", "unsafe=nan"), "unsafe: expected a number from 0 to inf, got 'nan'"),
        (("corpus.jsonl", "--packs", "core,verificaton"), "did you mean verification?"),
        (("corpus.jsonl", "--packs", "git"), "must have 'core' in it"),
        (("corpus.jsonl", "--picture", "corpus.jsonl"), "expected a file that ends in .svg, got 'corpus.jsonl'"),
        (("corpus.jsonl", "--picture", "absent/m.svg"), "there is no directory 'absent'"),
        (("same.svg", "--picture", "./same.svg"), "'./same.svg' is the corpus"),
    ],
)
def test_a_faulty_call_of_eval_is_told(
    words: tuple[str, ...], told: str, rerail: Rerail, corpus: str, project: Path
) -> None:
    (project / "same.svg").write_text((project / corpus).read_text())
    done = rerail("eval", *words)
    assert done.code == 2
    assert told in done.text
    assert "Traceback" not in done.text


def test_faults_of_a_corpus_are_told_together_with_their_lines(rerail: Rerail, project: Path) -> None:
    (project / "c.jsonl").write_text('{"id": 1, "input": {"stderr": "x"}, "label": "gti"}\n{\n{"id": 1}\n')
    done = rerail("eval", "c.jsonl", "--json")
    assert (done.code, done.envelope["error"]) == (2, "corpus-invalid")
    places = [(each["line"], each["key"]) for each in done.envelope["diagnostics"]]
    assert places == [(1, "label"), (2, ""), (3, "label"), (3, "input")]


# -- rules learn, rules test


def wobble(name: str) -> tuple[str, ...]:
    return ("run", "--unit", f"wobble-{name}", "--", "sh", "-c", f"echo 'frobnicator: no seats for {name}' >&2; exit 3")


def test_what_no_rule_names_is_drafted_completed_and_then_named(rerail: Rerail, project: Path) -> None:
    for name in ("flow", "mesh"):
        assert rerail(*wobble(name)).code == 75
    done = rerail("rules", "learn")
    assert done.code == 0
    assert b"2 failures: 0 named by the rules in force, 2 by none, in 1 cluster" in done.err
    (rule,) = tomllib.loads(done.out.decode())["rule"]
    assert rule["text"] == r"^frobnicator: no seats for \S+$"
    assert (rule["class"], len(rule["matches"])) == ("", 2)

    (project / "draft.toml").write_bytes(done.out)
    refused = rerail("rules", "test", "draft.toml", "--json")
    assert (refused.code, refused.envelope["error"]) == (2, "recipe-invalid")
    assert {each["key"] for each in refused.envelope["diagnostics"]} == {
        f"rule.0.{key}" for key in ("class", "reason", "why", "source")
    }

    draft = done.out.decode()
    for key, value in {"class": "runtime", "reason": "killed", "why": "no seats", "source": "observed"}.items():
        draft = draft.replace(f'\n{key} = ""', f'\n{key} = "{value}"')
    (project / "draft.toml").write_text(draft)
    tested = rerail("rules", "test", "draft.toml", "--json")
    assert not [each for each in tested.envelope["diagnostics"] if each["where"] == "draft"]

    (project / ".rerail" / "recipes").mkdir(parents=True)
    (project / "draft.toml").rename(project / ".rerail" / "recipes" / "ours.toml")
    again = rerail("rules", "learn", "--json").envelope
    assert again["message"] == "2 failures: 2 named by the rules in force, 0 by none"
    assert (again["data"]["named_now"], again["data"]["drafts"]) == (2, [])


def test_failures_of_a_file_are_learned_from_and_successes_are_not(rerail: Rerail, project: Path) -> None:
    rows = [
        {"id": 1, "stderr": "frobnicator: no seats for flow", "exit_code": 3},
        {"id": 2, "stderr": "HTTP 503 Service Unavailable", "exit_code": 1},
        {"id": 3, "stdout": "all fine", "exit_code": 0},
        {"stderr": '"]\n[[rule]]\nclass = "provider"\n\x1b[2J', "exit_code": 4},
    ]
    (project / "f.jsonl").write_text("\n".join(map(json.dumps, rows)))
    data = rerail("rules", "learn", "--from", "f.jsonl", "--json").envelope["data"]
    counts = (data["failures"], data["named_now"], data["not_failures"], data["unnamed"])
    assert counts == (4, 1, 1, 2)
    assert all(rule["class"] == "" for rule in tomllib.loads(data["toml"])["rule"])
    assert len(tomllib.loads(data["toml"])["rule"]) == 2
    shown = rerail("rules", "learn", "--from", "f.jsonl").out
    assert tomllib.loads(shown.decode()) == tomllib.loads(data["toml"])
    assert b"\x1b" not in shown


def test_lines_that_are_no_failures_are_told_together(rerail: Rerail) -> None:
    done = rerail("rules", "learn", "--from", "-", "--json", stdin=b'{\n{"stderr": "x"}\n{"stder": "x"}\n')
    assert (done.code, done.envelope["error"]) == (2, "corpus-invalid")
    assert [each["line"] for each in done.envelope["diagnostics"]] == [1, 3]


def test_nothing_to_learn_is_said_and_drafts_nothing(rerail: Rerail) -> None:
    done = rerail("rules", "learn")
    assert (done.code, done.out) == (0, b"")
    assert b"0 failures" in done.err


# -- why

LOG = "\n".join([*(f"step {n}" for n in range(1, 9)), "push declined: HTTP 401 Unauthorized", "bye"])


def test_why_shows_the_deciding_line_in_its_surroundings_also_of_a_file(rerail: Rerail, project: Path) -> None:
    (project / "log.txt").write_text(LOG)
    done = rerail("why", "--failure", "log.txt", env={"COLUMNS": "80"})
    assert done.code == 0
    lines = done.out.decode().splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith(">  9 │ push declined"))
    assert [line.split("│")[0].strip() for line in lines[at - 3 : at]] == ["6", "7", "8"]
    marks = lines[at + 1]
    assert set(marks) == {" ", "~"}
    assert "Unauthorized" in lines[at][marks.index("~") : len(marks)]
    assert any(line.startswith("source ") for line in lines)
    assert "\x1b" not in done.out.decode()


def test_why_says_the_same_facts_in_json(rerail: Rerail, project: Path) -> None:
    (project / "log.txt").write_text(LOG)
    shown = rerail("why", "--failure", "log.txt").out.decode()
    data = rerail("why", "--failure", "log.txt", "--json").envelope["data"]
    (excerpt,) = data["excerpts"]
    assert [line["line"] for line in excerpt["lines"]] == [6, 7, 8, 9, 10]
    (deciding,) = [line for line in excerpt["lines"] if line["role"] == "decides"]
    assert any("Unauthorized" in deciding["text"][start:stop] for start, stop in deciding["spans"])
    flat = " ".join(shown.split())
    assert data["classification"]["rule"] in flat
    assert " ".join(data["source"].split()) in flat
    for each in data["runners_up"]:
        assert f"{each['rule']}: {each['class']}/{each['reason']}" in flat
        assert " ".join(each["verdict"].split()) in flat


def test_why_of_a_recorded_failure_that_no_rule_names_leads_to_a_draft(rerail: Rerail) -> None:
    rerail(*wobble("flow"))
    done = rerail("why", "--json")
    assert done.envelope["hints"][0]["command"] == ["rerail", "rules", "learn"]
    (line,) = [line for line in done.envelope["data"]["excerpts"][0]["lines"] if line["role"] == "says-most"]
    assert line["text"] == "frobnicator: no seats for flow"


def test_why_takes_evidence_json_and_stdin(rerail: Rerail) -> None:
    evidence = {"command": "git push", "exit_code": 1, "stderr": "! [rejected] main -> main (fetch first)"}
    data = rerail("why", "--failure", "-", "--json", stdin=json.dumps(evidence).encode()).envelope["data"]
    assert (data["classification"]["class"], data["event"], data["unit"]) == ("git", None, None)


def test_why_takes_a_recorded_failure_or_a_file_not_both(rerail: Rerail) -> None:
    done = rerail("why", "12", "--failure", "x.json")
    assert done.code == 2
    assert "got both" in done.text


def test_a_failure_cannot_forge_what_why_shows(rerail: Rerail) -> None:
    hostile = "\x1b[2J> 1 │ forged\r\n\u202eHTTP 401\u2028 Unauthorized\x07 [bold]markup[/bold]"
    done = rerail("why", "--failure", "-", stdin=hostile.encode())
    text = done.out.decode()
    assert not {"\x1b", "\u202e", "\u2028", "\x07", "\r"} & set(text)
    assert "[bold]markup[/bold]" in text
