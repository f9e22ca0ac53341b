"""Patterns are `re`'s, whoever compiles them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from rerail import regex


def test_the_flags_are_those_of_re() -> None:
    names = ("IGNORECASE", "MULTILINE", "DOTALL", "ASCII")
    assert {name: getattr(regex, name) for name in names} == {name: getattr(re, name).value for name in names}


def test_a_pattern_is_the_one_that_re_compiles() -> None:
    pattern = regex.compiled(r"(?P<word>\w+)", regex.ASCII)
    assert pattern == re.compile(r"(?P<word>\w+)", re.ASCII)


def test_what_is_no_pattern_is_refused() -> None:
    with pytest.raises(re.error):
        regex.compiled("(")


def test_a_process_may_have_another_compile() -> None:
    code = (
        "import sys; from rerail import regex\n"
        "assert 're' not in sys.modules\n"
        "regex.compile_with(lambda pattern, flags: (pattern, flags))\n"
        "print(regex.compiled('a', 2), 're' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False, env={"PYTHONPATH": "src"}
    )
    assert (done.stdout, done.stderr) == ("('a', 2) False\n", "")
