"""Proves that the tables of public recovery cannot be changed unseen: each change of one entry must fail a test.

Of every slug the recovery is removed, and its mode is swapped; of every hint the entry is dropped, its category is changed, and
its family is emptied. Each change is made in a copy of the package, in which the boundary's tests then run.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
TESTS = [f"tests/unit/boundary/test_{name}.py" for name in ("slugs", "hints", "result", "serialize")]


class Mutation(NamedTuple):
    """One change of one table."""

    what: str
    file: str
    """Below src/rerail/boundary."""
    text: str
    """The whole file, changed."""


def mutations() -> Iterator[Mutation]:
    boundary = ROOT / "src" / "rerail" / "boundary"
    slugs, hints = ((boundary / name).read_text() for name in ("slugs.py", "hints.py"))
    for case in _cases(slugs):
        name = ast.unparse(case.pattern)
        yield Mutation(f"remove {name}", "slugs.py", _without(slugs, case.pattern.lineno, _end(case.body[-1])))
        yield Mutation(f"swap the mode of {name}", "slugs.py", _with_lines(slugs, case.body[0], _swapped))
    for hint in _hints(hints):
        start = hint.decorator_list[0].lineno
        yield Mutation(f"drop hint {hint.name}", "hints.py", _without(hints, start, _end(hint)))
        head = ast.get_source_segment(hints, hint.decorator_list[0])
        assert head is not None
        other = "NOTICE" if "NEXT_STEP" in head else "NEXT_STEP"
        changed = head.replace("Category.NEXT_STEP", "Category.X").replace("Category.GUARDRAIL", "Category.X")
        changed = changed.replace("Category.NOTICE", "Category.X").replace("Category.X", f"Category.{other}")
        yield Mutation(f"change the category of hint {hint.name}", "hints.py", hints.replace(head, changed, 1))
        if "ErrorSlug." in head:
            bare = head.split(", ErrorSlug.")[0] + ")"
            yield Mutation(f"empty the family of hint {hint.name}", "hints.py", _at(hints, start, head, bare))


def _cases(text: str) -> Iterator[ast.match_case]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == "failure_recovery":
            for each in ast.walk(node):
                if isinstance(each, ast.Match):
                    yield from each.cases


def _hints(text: str) -> Iterator[ast.FunctionDef]:
    for node in ast.parse(text).body:
        if (
            isinstance(node, ast.FunctionDef)
            and node.decorator_list
            and "_hint(" in ast.unparse(node.decorator_list[0])
        ):
            yield node


def _end(node: ast.AST) -> int:
    end: int = node.end_lineno  # type: ignore[attr-defined]  # every statement has one
    return end


def _without(text: str, first: int, last: int) -> str:
    lines = text.splitlines(keepends=True)
    return "".join((*lines[: first - 1], *lines[last:]))


def _at(text: str, line: int, old: str, new: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[: line - 1]) + "".join(lines[line - 1 :]).replace(old, new, 1)


def _with_lines(text: str, node: ast.stmt, change: Callable[[str], str]) -> str:
    lines = text.splitlines(keepends=True)
    body = "".join(lines[node.lineno - 1 : _end(node)])
    return "".join((*lines[: node.lineno - 1], change(body), *lines[_end(node) :]))


def _swapped(body: str) -> str:
    return body.replace("_tailored(", "_X(").replace("_evidence(", "_tailored(").replace("_X(", "_evidence(")


def is_caught(mutation: Mutation, copy: Path) -> bool:
    """Run the tests with the change, and put the copy back."""
    file = copy / "rerail" / "boundary" / mutation.file
    before = file.read_text()
    file.write_text(mutation.text)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *TESTS],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
        )
    finally:
        file.write_text(before)
    return done.returncode != 0


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory)
        shutil.copytree(ROOT / "src" / "rerail", copy / "rerail", ignore=shutil.ignore_patterns("__pycache__"))
        (copy / "rerail" / "_recipes").symlink_to(ROOT / "recipes")
        unchanged = Mutation("nothing", "slugs.py", (copy / "rerail" / "boundary" / "slugs.py").read_text())
        if is_caught(unchanged, copy):
            print("the tests fail without any change")
            return 1
        tried, missed = 0, []
        for mutation in mutations():
            tried += 1
            if not is_caught(mutation, copy):
                missed.append(mutation.what)
                print(f"not caught: {mutation.what}", flush=True)
        print(f"{tried} mutations, {tried - len(missed)} caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
