"""What the source text says: signatures, types, defaults and docstrings, the same under every Python."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE_CHARS = 110


class Member(NamedTuple):
    """A field of a class, or a member of an enumeration."""

    name: str
    type: str
    default: str | None
    """As Python; None for a field that must be given."""
    text: str


@cache
def definition(owner: type) -> ast.ClassDef:
    tree = ast.parse(Path(inspect.getfile(owner)).read_text(encoding="utf-8"))
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == owner.__name__)


def _own_members(owner: type) -> Iterator[Member]:
    body = definition(owner).body
    for node, after in zip(body, [*body[1:], ast.Pass()], strict=True):
        said = after.value if isinstance(after, ast.Expr) else None
        text = clean(str(said.value)) if isinstance(said, ast.Constant) else ""
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            kind = ast.unparse(node.annotation)
            if not kind.startswith("ClassVar") and not node.target.id.startswith("_"):
                yield Member(node.target.id, kind, _default(node.value), text)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and not _is_slots(node.targets[0]):
            yield Member(node.targets[0].id, "", ast.unparse(node.value), text)


def _is_slots(name: ast.Name) -> bool:
    return name.id == "__slots__"


def _default(value: ast.expr | None) -> str | None:
    if not isinstance(value, ast.Call) or not ast.unparse(value.func).endswith("field"):
        return None if value is None else ast.unparse(value)
    given = {word.arg: ast.unparse(word.value) for word in value.keywords}
    return "{}" if given.get("factory") == "dict" else given.get("default")


def members(owner: type) -> list[Member]:
    found = {each.name: each for base in reversed(owner.__mro__[:-1]) if is_ours(base) for each in _own_members(base)}
    # Those that can be left out come last, whoever declares them.
    return sorted(found.values(), key=lambda each: each.default is not None)


def is_ours(owner: type) -> bool:
    return owner.__module__.startswith("rerail.")


def clean(text: str) -> str:
    return re.sub(r"`+", "`", " ".join(text.split()))


def first_line(thing: object) -> str:
    return clean((inspect.getdoc(thing) or "").split("\n\n")[0])


def description(thing: object) -> str:
    """Return a docstring's words before its sections, a paragraph a line."""
    words = re.split(r"^(?:Args|Raises):$", inspect.getdoc(thing) or "", flags=re.MULTILINE)[0]
    return "\n\n".join(map(clean, words.strip().split("\n\n")))


def sections(thing: object) -> dict[str, dict[str, str]]:
    """Return the ``Args:`` and ``Raises:`` of a docstring, by name."""
    found: dict[str, dict[str, str]] = {}
    for title, block in re.findall(r"^(Args|Raises):\n((?:[ ]+.*\n?|\n)+)", inspect.getdoc(thing) or "", re.MULTILINE):
        entries = re.findall(r"^    (\S+?): ((?:.*\n?)(?:[ ]{5,}.*\n?)*)", block, re.MULTILINE)
        found[title] = {name: clean(text) for name, text in entries}
    return found


def look_up(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    values = [*[None] * (len(positional) - len(args.defaults)), *args.defaults]
    shown = [_argument(arg, value) for arg, value in zip(positional, values, strict=True)]
    if args.posonlyargs:
        shown.insert(len(args.posonlyargs), "/")
    if args.vararg:
        shown.append(f"*{_argument(args.vararg)}")
    elif args.kwonlyargs:
        shown.append("*")
    shown += map(_argument, args.kwonlyargs, args.kw_defaults)
    if args.kwarg:
        shown.append(f"**{_argument(args.kwarg)}")
    shown = [each for each in shown if each != "self"]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    head = ("await " if isinstance(node, ast.AsyncFunctionDef) else "") + node.name
    line = f"{head}({', '.join(shown)}){returns}"
    if len(line) <= _LINE_CHARS:
        return line
    inner = "".join(f"    {each},\n" for each in shown)
    return f"{head}(\n{inner}){returns}"


def _argument(arg: ast.arg, value: ast.expr | None = None) -> str:
    kind = f": {ast.unparse(arg.annotation)}" if arg.annotation else ""
    given = f" = {ast.unparse(value)}" if value else ""
    return f"{arg.arg}{kind}{given}"
