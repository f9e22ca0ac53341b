"""Nothing leaves that would mislead its reader, and whatever leaves is plain, printable and valid against the schema."""

from __future__ import annotations

import json
import subprocess
import sys
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.boundary import hints
from rerail.boundary.envelope import Envelope
from rerail.boundary.hints import REGISTRY, Category, Hint
from rerail.boundary.result import Diagnostic, Result
from rerail.boundary.serialize import SCHEMA_VERSION, RefusedResultError, serialize_result, to_json
from rerail.boundary.slugs import ERROR_FAILURE_RECOVERY, ErrorSlug, Mode
from rerail.decisions.model import Why
from rerail.evidence.ansi import printable
from rerail.rules.model import Citation

FLOOR = hints.correct_and_run_again()
GUARDRAIL = hints.heed_pitfall(failure_class="git", pitfall="do not reset")
ANSWER = hints.answer_pause(pause="p3-0a1b")

any_text = st.text(st.characters(codec=None, exclude_categories=()))


def step_for(slug: ErrorSlug) -> Hint:
    """The narrower next step of a tailored slug, filled in."""
    entry = next(entry for entry in REGISTRY.values() if slug in entry.family)
    return Hint(entry.id, dict.fromkeys(entry.fields, "x"))


def test_a_whole_envelope() -> None:
    result = Result(
        ok=False,
        verb="run",
        message="task-12: paused (class): deterministic-policy/billing: credit is used up",
        data={"pause": "p3-0a1b", "why": Why.CLASS},
        diagnostics=(Diagnostic("credit is used up", "stderr", 3, evidence="insufficient_quota"),),
        hints=(ANSWER, GUARDRAIL),
        error=ErrorSlug.PAUSED,
    )
    assert serialize_result(result) == {
        "schema_version": 1,
        "ok": False,
        "verb": "run",
        "message": "task-12: paused (class): deterministic-policy/billing: credit is used up",
        "data": {"pause": "p3-0a1b", "why": "class"},
        "diagnostics": [
            {"message": "credit is used up", "where": "stderr", "line": 3, "key": "", "evidence": "insufficient_quota"}
        ],
        "hints": [
            {
                "id": "answer-pause",
                "category": "next-step",
                "audience": "operator",
                "text": hints.answer_pause.template(pause="p3-0a1b").text,
                "command": ["rerail", "pauses"],
            },
            {
                "id": "heed-pitfall",
                "category": "guardrail",
                "audience": "caller",
                "text": "git: do not reset.",
                "command": None,
            },
        ],
        "error": "paused",
    }


def test_a_command_that_is_the_step_comes_as_words() -> None:
    step = hints.resume_at(unit="a b", time="2027-01-15T08:00:00Z")
    envelope = serialize_result(Result(False, "run", hints=(step,), error=ErrorSlug.PAUSED_UNTIL))
    assert Envelope.model_validate(envelope).hints[0].command == ["rerail", "resume", "a b"]


@pytest.mark.parametrize("slug", [slug for slug in ErrorSlug if ERROR_FAILURE_RECOVERY[slug].mode is Mode.TAILORED])
class TestTailored:
    def test_its_own_next_step_suffices_even_without_a_word(self, slug: ErrorSlug) -> None:
        assert serialize_result(Result(False, "run", hints=(step_for(slug),), error=slug))["error"] == slug

    def test_the_generic_hint_is_refused_whatever_the_message_says(self, slug: ErrorSlug) -> None:
        message = "correct the field workspace_id, then run it again"
        with pytest.raises(RefusedResultError, match=f"{slug} requires its own next step"):
            serialize_result(Result(False, "run", message, hints=(FLOOR,), error=slug))

    def test_guardrails_alone_are_refused(self, slug: ErrorSlug) -> None:
        with pytest.raises(RefusedResultError, match=f"{slug} carries no next step"):
            serialize_result(Result(False, "run", "it failed", hints=(GUARDRAIL,), error=slug))

    def test_another_failures_step_is_refused(self, slug: ErrorSlug) -> None:
        foreign = ANSWER if slug is not ErrorSlug.PAUSED else hints.restore_git()
        with pytest.raises(RefusedResultError, match=f"hint {foreign.id} belongs to another failure than {slug}"):
            serialize_result(Result(False, "run", "it failed", hints=(step_for(slug), foreign), error=slug))


@pytest.mark.parametrize(
    "slug", [None, *(slug for slug in ErrorSlug if ERROR_FAILURE_RECOVERY[slug].mode is Mode.EVIDENCE)]
)
class TestEvidence:
    def test_the_generic_hint_suffices_beside_a_message(self, slug: ErrorSlug | None) -> None:
        assert serialize_result(Result(False, "run", "no such option", hints=(FLOOR,), error=slug))["error"] == slug

    def test_the_generic_hint_suffices_beside_a_first_diagnostic(self, slug: ErrorSlug | None) -> None:
        told = (Diagnostic("no such option"),)
        assert serialize_result(Result(False, "run", diagnostics=told, hints=(FLOOR,), error=slug))["ok"] is False

    @pytest.mark.parametrize("told", [(), (Diagnostic(""),), (Diagnostic(" \n"), Diagnostic("only the second speaks"))])
    def test_a_failure_that_is_data_only_is_refused(self, slug: ErrorSlug | None, told: tuple[Diagnostic, ...]) -> None:
        with pytest.raises(RefusedResultError, match="has data only"):
            serialize_result(Result(False, "run", " ", {"option": "-x"}, told, (FLOOR,), slug))

    def test_no_next_step_is_refused(self, slug: ErrorSlug | None) -> None:
        with pytest.raises(RefusedResultError, match="carries no next step"):
            serialize_result(Result(False, "run", "no such option", error=slug))

    def test_a_tailored_failures_step_is_refused(self, slug: ErrorSlug | None) -> None:
        with pytest.raises(RefusedResultError, match="hint answer-pause belongs to another failure"):
            serialize_result(Result(False, "run", "no such option", hints=(FLOOR, ANSWER), error=slug))


def test_a_success_with_an_error_is_refused() -> None:
    with pytest.raises(RefusedResultError, match="run: it is ok, and its error is paused"):
        serialize_result(Result(True, "run", hints=(ANSWER,), error=ErrorSlug.PAUSED))


def test_a_success_may_carry_any_hint() -> None:
    envelope = Envelope.model_validate(serialize_result(Result(True, "pauses", hints=(ANSWER, GUARDRAIL, FLOOR))))
    assert [hint.category for hint in envelope.hints] == [Category.NEXT_STEP, Category.GUARDRAIL, Category.NEXT_STEP]


@pytest.mark.parametrize("ok", [True, False])
def test_advice_that_is_not_registered_is_refused(ok: bool) -> None:
    with pytest.raises(RefusedResultError, match="hint 'try-harder' is not registered"):
        serialize_result(Result(ok, "run", "it failed", hints=(Hint("try-harder", {}), FLOOR)))


@pytest.mark.parametrize("fields", [{}, {"pause": "p3", "unit": "u"}, {"unit": "u"}, {"pause": None}, {"pause": " "}])
def test_a_hint_that_is_filled_in_wrongly_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(RefusedResultError, match="hint answer-pause takes text for pause, got"):
        serialize_result(Result(False, "run", hints=(Hint("answer-pause", fields),), error=ErrorSlug.PAUSED))


def test_a_hint_that_cannot_be_written_as_a_command_is_refused() -> None:
    with pytest.raises(RefusedResultError, match="hint correct-call cannot be filled in"):
        serialize_result(Result(False, "run", "m", hints=(Hint("correct-call", {"call": "rerail 'x"}),)))


@pytest.mark.parametrize("data", ["text", None, ["a"]])
def test_data_that_are_no_facts_by_name_are_refused(data: Any) -> None:
    with pytest.raises(RefusedResultError, match="data are facts by name"):
        serialize_result(Result(True, "run", data=data))


class Colour(Enum):
    RED = "red"


class Code(IntEnum):
    STOPPED = 70


def test_data_becomes_plain_json() -> None:
    data = {
        "enum": Why.CLASS,
        "value": Colour.RED,
        "number": Code.STOPPED,
        "named": Citation("stderr", 3, "line"),
        "read_only": MappingProxyType({"a": (1, True, None)}),
        "list": [1.5, "x"],
        "one": frozenset({"only"}),
        "not a number": float("nan"),
        "for ever": float("inf"),
        "surrogate": "a\ud800b\udcff",
    }
    envelope = serialize_result(Result(True, "why", data=data))
    assert envelope["data"] == {
        "enum": "class",
        "value": "red",
        "number": 70,
        "named": ["stderr", 3, "line"],
        "read_only": {"a": [1, True, None]},
        "list": [1.5, "x"],
        "one": ["only"],
        "not a number": None,
        "for ever": None,
        "surrogate": "a\ufffdb\ufffd",
    }
    assert type(json.loads(to_json(envelope))["data"]["number"]) is int


def test_data_that_is_no_json_is_refused() -> None:
    with pytest.raises(RefusedResultError, match="data holds a object, which is no JSON value"):
        serialize_result(Result(True, "why", data={"deep": [{"er": object()}]}))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
diagnostics = st.builds(Diagnostic, any_text, any_text, st.none() | st.integers(1, 10**6), any_text, any_text)


@given(
    any_text,
    any_text,
    st.dictionaries(any_text, json_values, max_size=3),
    st.lists(diagnostics, max_size=2).map(tuple),
    any_text.filter(str.strip),
)
def test_whatever_leaves_is_valid_plain_and_printable(
    verb: str, message: str, data: dict[str, object], told: tuple[Diagnostic, ...], pause: str
) -> None:
    result = Result(False, verb, message, data, told, (hints.answer_pause(pause=pause),), ErrorSlug.PAUSED)
    envelope = serialize_result(result)
    line = to_json(envelope)
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line) == envelope
    assert Envelope.model_validate_json(line).model_dump(mode="json") == envelope
    shown = [
        str(envelope["verb"]),
        str(envelope["message"]),
        *(hint.text for hint in Envelope.model_validate(envelope).hints),
    ]
    assert all(printable(part) == part for text in shown for part in text.split("\n"))


def test_a_successs_version_is_the_schemas() -> None:
    assert serialize_result(Result(True, "doctor"))["schema_version"] == SCHEMA_VERSION == 1


def test_the_way_out_needs_nothing_but_the_standard_library() -> None:
    """A hook and ``rerail classify`` serialise at every tool call."""
    heavy = ["attrs", "attr", "pydantic", "structlog", "dataclasses", "inspect", "asyncio", "tomllib", "subprocess"]
    code = f"import sys, rerail.boundary.serialize; print(sorted(set({heavy}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False, env={"PYTHONPATH": "src"}
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
