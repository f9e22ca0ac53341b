"""What a program is for decides only where nothing that it printed is known."""

from __future__ import annotations

import pytest

from rerail.evidence.payload import from_payload
from rerail.recipes import load
from rerail.rules import Classification, classify

RULES = load(None).rules


def named(command: str, stderr: str, exit_code: int = 1) -> Classification:
    return classify(from_payload({"command": command, "exit_code": exit_code, "stderr": stderr}), RULES, now=0.0)


PURPOSES = (
    ("npx knip", "Unused files (1)\nsrc/a.ts", "verification"),
    ("uv run --with x vulture src", "leftover: foo", "verification"),
    ("mix sobelow --exit", "XSS.Raw: XSS - High Confidence", "verification"),
    ("npx acme validate plan.acme", "step 3 must come before step 2", "verification"),
    ("snap install foo", 'error: snap "foo" not found', "environment"),
    ("guix shell foo", "guix shell: error: foo: unknown package", "environment"),
    ("git-town sync", 'Error: branch "x" has no parent', "git"),
)


@pytest.mark.parametrize(("command", "stderr", "class_"), PURPOSES, ids=[command for command, _, _ in PURPOSES])
def test_a_program_of_known_purpose_names_its_failure(command: str, stderr: str, class_: str) -> None:
    assert named(command, stderr).class_ == class_


KNOWN_BETTER = (
    ("npx knip", "Error: connect ECONNREFUSED 104.16.1.1:443", 1, "provider"),
    ("npx knip", "sh: 1: knip: not found", 127, "environment"),
    ("npx eslint .", "Killed", 137, "runtime"),
    ("ruff chek .", "error: unrecognized subcommand 'chek'", 2, "tool-schema"),
    ("npx cypress run", "Your system is missing the dependency: Xvfb", 1, "unclassified"),
    ("snyk test", "Authentication error (SNYK-0005): 401 Unauthorized", 1, "deterministic-policy"),
)


@pytest.mark.parametrize(("command", "stderr", "exit_code", "class_"), KNOWN_BETTER)
def test_whatever_the_output_tells_wins(command: str, stderr: str, exit_code: int, class_: str) -> None:
    assert named(command, stderr, exit_code).class_ == class_


@pytest.mark.parametrize(
    "command", ["./deploy.sh", "npm run sync", "make check", "aws s3 sync a b", "bun run sync.ts", "poetry run sync"]
)
def test_a_program_of_unknown_purpose_stays_unnamed(command: str) -> None:
    assert named(command, "customer 12 was not found").class_ == "unclassified"
