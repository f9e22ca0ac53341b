"""Reads commands that only print what is in files: their standard output is somebody's data, and no failure of this run.

A log shown with ``cat`` may be full of errors; what failed, if anything did, is told on stderr in the program's own name.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.rules.readers.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

PRINTERS = frozenset({
    "cat", "bat", "batcat", "head", "tail", "less", "more", "nl", "tac", "rev", "fold", "fmt", "column", "expand",
    "od", "xxd", "hexdump", "strings", "base64", "grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "sed", "awk",
    "gawk", "mawk", "cut", "tr", "sort", "uniq", "comm", "join", "paste", "diff", "sdiff", "cmp", "colordiff",
    "icdiff", "jq", "yq", "xmllint", "wc", "ls", "find", "tree", "stat", "file", "zcat",
})  # fmt: skip
"""Programs whose standard output is the content of files, or what they found in it."""
_AROUND = frozenset(
    {
        "sh",
        "bash",
        "dash",
        "zsh",
        "cd",
        "echo",
        "printf",
        "true",
        "false",
        "exit",
        "set",
        "xargs",
        "env",
        "export",
        "test",
        "[",
    }
)
_VIEWERS = frozenset({"python", "python3", "json.tool", "pydoc"})
_MODULES = frozenset({"json.tool", "pydoc"})
_LOCAL_URL = lazy(r"\bcurl\b.{0,200}\bfile://")


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Hide the standard output of a command all of whose programs only print, but for lines in a program's own name."""
    if not _only_prints(scene):
        return
    own = tuple(f"{name}: " for name in (*sorted(scene.tools), "fatal", "error"))
    for draft in drafts:
        if draft.name == "stdout":
            draft.mask(*(index for index, line in enumerate(draft.bare) if not line.startswith(own)))


def _only_prints(scene: Scene) -> bool:
    rest = scene.tools - _AROUND
    if rest == {"curl"} and "http" not in scene.command:
        return _LOCAL_URL.search(scene.command) is not None
    if rest & _MODULES:
        rest -= _VIEWERS
        return rest <= PRINTERS
    return bool(rest) and rest <= PRINTERS
