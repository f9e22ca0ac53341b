"""Recipe files: what is read, and that every fault is told at once, with its line."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.errors import RecipeError
from rerail.recipes.schema import read_recipe
from rerail.rules.model import Matcher
from rerail.taxonomy import Action

WHOLE = dedent("""\
    name = "acme"
    description = "what our own tools print"

    [[class]]
    name = "quota"
    signal = "a team's quota"
    action = "pause"
    budget = 0
    severity = 65
    advice = "ask the team"
    pitfall = "do not retry"

    [[reason]]
    class = "quota"
    name = "team-spent"
    summary = "the team's quota is spent"
    hint = "ask the team for more"

    [[rule]]
    slug = "acme-quota"
    class = "quota"
    reason = "team-spent"
    why = "the gateway counts by team"
    source = "acme gateway 2.1, quota.go"
    text = 'team quota exceeded for (\\w+)'
    status = [429, "5xx"]
    tool = "Acme"
    header = { "X-Team-Left" = "^0$" }
    summary = "quota of {0} is spent"
    matches = ["team quota exceeded for blue", { exit_code = 1, stderr = "team quota exceeded for red" }]
    passes_by = "team quota is fine"

    [[rule]]
    slug = "acme-lock"
    class = "git"
    reason = "index-lock"
    why = "our wrapper locks, too"
    source = "observed"
    general = true
    priority = -2
    may_have_landed = true
    matches = "acme: lock is held"

    [[rule.any]]
    stderr = "acme: lock is held"

    [[rule.any]]
    code = "ACME_LOCK"
    exit_code = [3, 4]
    """)


def faults(text: str) -> list[str]:
    """The faults of a file as people read them."""
    with pytest.raises(RecipeError) as raised:
        read_recipe(dedent(text), "acme.toml")
    return [str(fault) for fault in raised.value.faults]


def test_a_whole_file_becomes_values() -> None:
    recipe = read_recipe(WHOLE, "whatever.toml")
    assert recipe.name == "acme"
    assert (recipe.classes[0].name, recipe.classes[0].action, recipe.classes[0].pack) == ("quota", Action.PAUSE, "acme")
    assert recipe.reasons[0].action is Action.PAUSE
    first, second = recipe.rules
    assert first.when == (
        Matcher(
            text=(r"team quota exceeded for (\w+)",),
            status=("429", "5xx"),
            tool=("acme",),
            header=(("x-team-left", "^0$"),),
        ),
    )
    assert json.loads(first.matches[0].input) == {"message": "team quota exceeded for blue"}
    assert len(first.passes_by) == 1
    assert second.when == (Matcher(stderr=("acme: lock is held",)), Matcher(code=("ACME_LOCK",), exit_code=(3, 4)))
    assert (second.general, second.priority, second.may_have_landed) == (True, -2, True)


def test_a_file_is_named_by_its_stem_where_it_gives_no_name() -> None:
    assert read_recipe("", "/p/.rerail/recipes/our-tools.toml").name == "our-tools"


RULE = """
[[rule]]
slug = "a"
class = "git"
reason = "rejected"
why = "because"
source = "observed"
text = "boom happened"
matches = ["boom happened"]
"""


def test_all_faults_of_a_file_are_told_at_once_in_the_order_of_their_lines() -> None:
    told = faults("""\
        naem = "x"

        [[class]]
        name = "quota"
        signal = "s"
        action = "pause"
        budget = -1
        advice = "a"
        pitfall = "p"

        [[rule]]
        slug = "a"
        clas = "git"
        class = "gitt"
        reason = "rejected"
        why = "because"
        text = "(a+)+$ boom"
        matches = []

        [[rule]]
        slug = "a"
        class = "git"
        reason = "rejectd"
        why = ""
        source = "observed"
        status = 99
        matches = ["x"]
        """)
    assert [fault.split(": ", 2)[:2] for fault in told] == [
        ["acme.toml:1", "naem"],
        ["acme.toml:7", "class.0.budget"],
        ["acme.toml:11", "rule.0.source"],
        ["acme.toml:13", "rule.0.clas"],
        ["acme.toml:14", "rule.0.class"],
        ["acme.toml:17", "rule.0.text"],
        ["acme.toml:18", "rule.0.matches"],
        ["acme.toml:21", "rule.1.slug"],
        ["acme.toml:23", "rule.1.reason"],
        ["acme.toml:24", "rule.1.why"],
        ["acme.toml:26", "rule.1.status.0"],
    ]
    assert "did you mean name?" in told[0]
    assert "did you mean class?" in told[3]
    assert "did you mean git?" in told[4]
    assert "repeats a group that itself repeats" in told[5]
    assert "is used in line 12 already" in told[7]
    assert "did you mean rejected?" in told[8]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (('matches = ["boom happened"]', ""), "rule.0.matches: is missing"),
        (('why = "because"', ""), "rule.0.why: is missing"),
        (('text = "boom happened"', ""), "sees nothing"),
        (('text = "boom happened"', 'tool = "git"'), "sees nothing"),
        (('text = "boom happened"', 'text = "(boom"'), "is not a regular expression"),
        (('text = "boom happened"', "text = 'b\\d+'"), "needs a fixed text of at least 3 characters"),
        (('text = "boom happened"', "command = '(.*)*x'"), "repeats a group"),
        (('text = "boom happened"', "header = { a = '(.*)*x' }"), "repeats a group"),
        (('text = "boom happened"', "text = 3"), "should be a valid string, got 3"),
        (('text = "boom happened"', "exit_code = '3'"), "should be a valid integer, got '3'"),
        (('text = "boom happened"', "status = 200"), "got '200'"),
        (('slug = "a"', 'slug = "Not A Slug"'), "rule.0.slug"),
        (('matches = ["boom happened"]', "matches = [3]"), "rule.0.matches.0"),
        (("[[rule]]", "[rule]"), "rule: "),
        (("[[rule]]", "[[rul]]"), "did you mean rule?"),
        (("[[rule]]", "[[rule]"), "is not TOML"),
        (('matches = ["boom happened"]', 'matches = ["b"]\n[[rule.any]]\ntext = "boom"'), "beside [[rule.any]]"),
    ],
)
def test_each_kind_of_fault_says_what_was_expected(change: tuple[str, str], part: str) -> None:
    told = faults(RULE.replace(*change))
    assert any(part in fault for fault in told), told
    assert all(fault.startswith("acme.toml") for fault in told)


def test_a_fault_in_the_second_matcher_of_a_rule_has_its_own_line() -> None:
    text = (
        RULE.replace('text = "boom happened"\n', "") + '[[rule.any]]\ntext = "boom happened"\n[[rule.any]]\nerrno = 3\n'
    )
    assert faults(text)[0].startswith("acme.toml:12: rule.0.any.1.errno.0")


def test_an_empty_file_is_a_recipe_that_says_nothing() -> None:
    assert read_recipe("", "a.toml").rules == ()


@given(st.text(max_size=80), st.sampled_from(["slug", "class", "reason", "why", "text", "matches", "status", "header"]))
def test_whatever_stands_in_a_file_is_read_or_refused_with_faults(value: str, key: str) -> None:
    lines = [line if not line.startswith(f"{key} ") else f"{key} = {json.dumps(value)}" for line in RULE.split("\n")]
    for text in ("\n".join(lines), value, RULE + value):
        assert outcome(text) in ("read", "refused")


def outcome(text: str) -> str:
    """What became of a file."""
    try:
        read_recipe(text, "a.toml")
    except RecipeError as error:
        return "refused" if error.faults else "refused without a word"
    return "read"
