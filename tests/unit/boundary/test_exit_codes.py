"""One table of exit codes."""

from __future__ import annotations

import signal

import pytest

from rerail.boundary.exit_codes import ExitCode, exit_code
from rerail.boundary.slugs import ErrorSlug


def test_the_codes_are_those_of_the_contract() -> None:
    assert sorted(ExitCode) == [0, 1, 2, 65, 70, 75, 130, 143]


@pytest.mark.parametrize("code", ExitCode)
def test_every_code_says_what_it_means(code: ExitCode) -> None:
    assert code.meaning
    assert code.meaning == code.meaning.strip().rstrip(".")


@pytest.mark.parametrize("slug", ErrorSlug)
def test_no_failure_exits_as_a_success(slug: ErrorSlug) -> None:
    assert exit_code(slug) not in (ExitCode.SUCCEEDED, ExitCode.TERMINATED)


@pytest.mark.parametrize(
    ("slug", "code"),
    [
        (ErrorSlug.HANDED_BACK, 65),
        (ErrorSlug.INPUT_UNCHANGED, 65),
        (ErrorSlug.PAUSED, 75),
        (ErrorSlug.PAUSED_UNTIL, 75),
        (ErrorSlug.STOPPED, 70),
        (ErrorSlug.BELOW_THRESHOLD, 70),
        (ErrorSlug.WORKTREE_REFUSED, 70),
        (ErrorSlug.USAGE, 2),
        (ErrorSlug.SETTINGS_INVALID, 2),
        (ErrorSlug.INTERNAL, 1),
        (None, 70),
    ],
)
def test_a_failure_exits_by_its_slug(slug: ErrorSlug | None, code: int) -> None:
    assert exit_code(slug) == code


def test_a_cancellation_exits_by_its_signal() -> None:
    assert exit_code(ErrorSlug.CANCELLED) == 128 + signal.SIGINT
    assert exit_code(ErrorSlug.CANCELLED, signal=signal.SIGTERM) == 128 + signal.SIGTERM
    assert (
        exit_code(ErrorSlug.CANCELLED, signal=signal.SIGHUP) == 128 + signal.SIGTERM
    )  # asked to end, by nobody's keyboard
