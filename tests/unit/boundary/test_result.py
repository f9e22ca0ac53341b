"""What a verb hands in, and what becomes of an error of the tree."""

from __future__ import annotations

import pytest

from rerail.boundary import hints
from rerail.boundary.result import Diagnostic, Result, failed, slug_of, with_recovery_hint
from rerail.boundary.serialize import serialize_result
from rerail.boundary.slugs import ErrorSlug
from rerail.errors import (
    EvidenceError,
    FileFault,
    GitError,
    LedgerError,
    RecipeError,
    RerailError,
    SettingsError,
    UnknownNameError,
    UsageError,
)
from rerail.ledger.store import AlreadyAnsweredError, UnitBusyError


class StuckError(RerailError):
    slug = "paused"


SELF_EXPLAINING = [
    RerailError("it cannot be done"),
    UsageError("--budget: expected a number, got 'x'"),
    EvidenceError("exit_code: expected a whole number, got 'x'"),
    RecipeError([FileFault("a.toml", 3, "rule.0.class", "there is no class named 'gti'")]),
    SettingsError([FileFault("rerail.toml", None, "", "cannot be read: Permission denied")]),
]
TAILORED = [
    (UnknownNameError("class", "gti"), hints.list_names(kind="class")),
    (LedgerError("cannot open it"), hints.restore_ledger()),
    (GitError("no answer"), hints.restore_git()),
    (UnitBusyError("task-12 is being run by process 7"), hints.let_other_run_finish()),
    (AlreadyAnsweredError("p3 was answered"), hints.keep_first_answer()),
]


@pytest.mark.parametrize("error", SELF_EXPLAINING, ids=lambda error: error.slug)
def test_an_error_that_carries_its_correction_gets_the_generic_hint(error: RerailError) -> None:
    result = failed("classify", error)
    assert result.hints == (hints.correct_and_run_again(),)
    assert serialize_result(result)["error"] == error.slug


@pytest.mark.parametrize(("error", "hint"), TAILORED, ids=lambda each: getattr(each, "slug", ""))
def test_an_error_whose_correction_lies_elsewhere_says_where(error: RerailError, hint: hints.Hint) -> None:
    result = failed("run", error)
    assert result.hints == (hint,)
    assert serialize_result(result)["error"] == error.slug


def test_the_step_that_only_the_caller_can_fill_in_is_taken_from_it() -> None:
    step = hints.answer_pause(pause="p3-0a1b")
    result = failed("resume", StuckError("task-12 is paused"), step, data={"pause": "p3-0a1b"})
    assert (result.error, result.hints, result.data) == (ErrorSlug.PAUSED, (step,), {"pause": "p3-0a1b"})


def test_a_tailored_error_without_its_step_gets_no_generic_one() -> None:
    assert failed("resume", StuckError("task-12 is paused; answer it")).hints == ()


def test_an_errors_own_hint_is_the_remedy_in_the_message() -> None:
    result = failed("explain", UnknownNameError("class", "gti", ["git", "provider"]))
    assert result.message == "there is no class named 'gti'; did you mean git?"


def test_every_fault_of_a_file_is_a_diagnostic_with_its_place() -> None:
    faults = [
        FileFault("rerail.toml", 2, "budgets.git", "must be >= 0"),
        FileFault("rerail.toml", 9, "", "is no table"),
    ]
    assert failed("run", SettingsError(faults)).diagnostics == (
        Diagnostic("must be >= 0", "rerail.toml", 2, "budgets.git"),
        Diagnostic("is no table", "rerail.toml", 9),
    )


def test_a_projects_own_error_has_the_slug_of_the_nearest_one_that_is_rerails() -> None:
    class OursError(UsageError):
        slug = "ours"

    class WithoutError(RerailError):
        pass

    assert slug_of(OursError("x")) is ErrorSlug.USAGE
    assert slug_of(WithoutError("x")) is ErrorSlug.RERAIL_ERROR


def test_a_list_of_facts_is_given_to_whoever_shows_it() -> None:
    assert Result(True, "pauses", data={"pauses": ({"id": "p1"},)}).rows("pauses") == [{"id": "p1"}]


FLOOR = hints.correct_and_run_again()
NOTICE = hints.ledger_in_project(path="/repo/.rerail/ledger.db")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (Result(True, "check"), ()),
        (Result(False, "run", "no such option", error=ErrorSlug.USAGE), (FLOOR,)),
        (Result(False, "run", "no such option", hints=(NOTICE,), error=ErrorSlug.USAGE), (NOTICE, FLOOR)),
        (Result(False, "run", "no such option", hints=(FLOOR,), error=ErrorSlug.USAGE), (FLOOR,)),
        (Result(False, "run", diagnostics=(Diagnostic("no such option"),), error=ErrorSlug.USAGE), (FLOOR,)),
        (Result(False, "run", " ", diagnostics=(Diagnostic("\n"),), error=ErrorSlug.USAGE), ()),
        (Result(False, "rules test", diagnostics=(Diagnostic("an example fails"),)), (FLOOR,)),
        (Result(False, "rules test", data={"failed": 3}), ()),
        (Result(False, "run", "answer it", error=ErrorSlug.PAUSED), ()),
    ],
)
def test_the_generic_hint_is_added_only_where_it_is_true(result: Result, expected: tuple[hints.Hint, ...]) -> None:
    assert with_recovery_hint(result).hints == expected
