"""The vocabulary covers every error of the tree, and every member has its audited recovery."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import rerail
from rerail.boundary import slugs
from rerail.boundary.slugs import (
    ERROR_FAILURE_RECOVERY,
    ERRORLESS_FAILURE_RECOVERY,
    NEVER_GENERIC,
    ErrorSlug,
    Mode,
    recovery_of,
)
from rerail.errors import RerailError

if TYPE_CHECKING:
    from collections.abc import Iterator

TAILORED = {
    "handed-back",
    "input-unchanged",
    "paused",
    "paused-until",
    "outcome-unknown",
    "unclassified",
    "stopped",
    "not-recovered",
    "cancelled",
    "worktree-refused",
    "not-healed",
    "heal-step-refused",
    "recipe-untrusted",
    "unit-busy",
    "lease-lost",
    "below-threshold",
    "phase-unresolved",
    "not-allowed",
    "already-answered",
    "unknown-name",
    "ledger-unusable",
    "git-unusable",
    "git-failed",
    "git-command-forbidden",
    "undo-refused",
    "internal",
}
"""Reviewed by hand: moving a slug out of here needs evidence that every producer's message carries the correction."""


def errors(base: type[RerailError]) -> Iterator[type[RerailError]]:
    yield base
    for derived in base.__subclasses__():
        if derived.__module__.startswith("rerail."):
            yield from errors(derived)


def test_every_error_of_the_tree_has_its_slug_in_the_vocabulary() -> None:
    for module in pkgutil.walk_packages(rerail.__path__, "rerail."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert {error.slug for error in errors(RerailError)} - set(ErrorSlug) == set()


def test_two_errors_share_a_slug_only_when_one_derives_from_the_other() -> None:
    found = list(errors(RerailError))
    for one in found:
        for other in found:
            assert one.slug != other.slug or issubclass(one, other) or issubclass(other, one)


def test_the_tailored_slugs_are_the_reviewed_ones() -> None:
    assert {slug for slug, recovery in ERROR_FAILURE_RECOVERY.items() if recovery.mode is Mode.TAILORED} == TAILORED


@pytest.mark.parametrize("slug", ErrorSlug)
def test_every_slug_has_a_recovery_with_its_audit(slug: ErrorSlug) -> None:
    recovery = ERROR_FAILURE_RECOVERY[slug]
    assert recovery == recovery_of(slug)
    assert recovery.producers
    assert recovery.audit


def test_a_failure_without_a_slug_has_its_recovery() -> None:
    assert recovery_of(None) is ERRORLESS_FAILURE_RECOVERY
    assert ERRORLESS_FAILURE_RECOVERY.mode is Mode.EVIDENCE


def test_consent_and_partial_effects_never_fall_back_to_the_generic_hint() -> None:
    assert all(ERROR_FAILURE_RECOVERY[slug].mode is Mode.TAILORED for slug in NEVER_GENERIC)


@pytest.mark.parametrize("slug", ErrorSlug)
def test_a_slug_is_kebab_case(slug: ErrorSlug) -> None:
    assert slug.replace("-", "").isalpha()
    assert slug == slug.lower() == slug.name.lower().replace("_", "-")


@pytest.fixture
def with_an_undecided_slug(tmp_path: Path) -> Path:
    """The module as it would be after somebody added a slug and nothing else."""
    source = Path(slugs.__file__).read_text(encoding="utf-8")
    file = tmp_path / "undecided.py"
    file.write_text(
        source.replace('    INTERNAL = "internal"\n', '    INTERNAL = "internal"\n    NEW = "new"\n'), encoding="utf-8"
    )
    return file


def test_a_slug_that_nobody_decided_on_fails_the_import(with_an_undecided_slug: Path) -> None:
    done = subprocess.run([sys.executable, with_an_undecided_slug], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Expected code to be unreachable, but got: <ErrorSlug.NEW: 'new'>" in done.stderr


@pytest.mark.slow
def test_a_slug_that_nobody_decided_on_fails_the_type_check(with_an_undecided_slug: Path, tmp_path: Path) -> None:
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*mypy, with_an_undecided_slug], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert 'Argument 1 to "assert_never" has incompatible type' in done.stdout
    assert "ErrorSlug.NEW" in done.stdout
