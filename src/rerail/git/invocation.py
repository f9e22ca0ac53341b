"""The git commands within what an agent ran: which subcommand, with which arguments, in which directory.

An agent runs ``git commit``, but also ``cd sub && git add x && git commit -m y`` or ``bash -lc "..."``. Nothing found here is
ever run again: it only says what was meant.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SEPARATORS = frozenset({"&&", "||", ";", "|", "&", "|&"})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
_WRAPPERS = frozenset({"env", "command", "exec", "nice", "nohup", "sudo", "time", "timeout", "stdbuf", "setsid"})
_VALUE_OPTIONS = frozenset({"-c", "--namespace", "--exec-path", "--config-env", "--attr-source"})
_MAX_NESTING = 4


@attrs.frozen
class Invocation:
    """One git command."""

    verb: str
    args: tuple[str, ...]
    """Everything after the subcommand."""
    cwd: Path
    """Where it ran, ``-C`` and a preceding ``cd`` applied."""
    git_dir: str | None = None
    """The value of ``--git-dir``."""

    @property
    def options(self) -> tuple[str, ...]:
        """The options before ``--``."""
        return tuple(arg for arg in self._before_dashes() if arg.startswith("-") and arg != "-")

    @property
    def operands(self) -> tuple[str, ...]:
        """The arguments that are no options; the value of a separate option is among them."""
        before = self._before_dashes()
        after = self.args[len(before) + 1 :]
        return (*(arg for arg in before if not arg.startswith("-") or arg == "-"), *after)

    def has(self, *names: str) -> bool:
        """Return whether any of these options is given, ``--name=value`` and grouped letters (``-am``) included."""
        for option in self.options:
            head = option.split("=", 1)[0]
            if head in names:
                return True
            # ``-am MESSAGE`` groups letters; what follows the m is the message.
            grouped = "" if option.startswith("--") else option[1:].partition("m")[0] + "m" * ("m" in option)
            if any(len(name) == 2 and name[1] in grouped for name in names):
                return True
        return False

    def _before_dashes(self) -> tuple[str, ...]:
        return self.args[: self.args.index("--")] if "--" in self.args else self.args


def invocations(command: Sequence[str], cwd: Path) -> tuple[Invocation, ...]:
    """Return the git commands of an agent's command, in order; none of what no system could have run."""
    if not all(map(_is_sayable, command)):
        return ()
    return tuple(_parse(tuple(command), cwd, _MAX_NESTING))


def _is_sayable(word: str) -> bool:
    """Whether a word can be handed to a program: a failure is JSON, which holds NUL and halves of surrogate pairs too."""
    try:
        return b"\0" not in os.fsencode(word)
    except UnicodeEncodeError:
        return False


def _parse(command: tuple[str, ...], cwd: Path, depth: int) -> Iterator[Invocation]:
    for words in _simple_commands(command):
        words = _unwrapped(words)
        if not words:
            continue
        program = PurePath(words[0]).name.removesuffix(".exe")
        if program == "cd" and len(words) > 1:
            cwd = cwd / words[1]
        elif program in _SHELLS and depth:
            yield from _parse(_script(words), cwd, depth - 1)
        elif program == "git":
            found = _git(words[1:], cwd)
            if found is not None:
                yield found


def _simple_commands(command: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    words: list[str] = []
    for word in command:
        if word in _SEPARATORS:
            yield tuple(words)
            words = []
        elif word.endswith(";") and len(word) > 1:
            yield (*words, word[:-1])
            words = []
        else:
            words.append(word)
    yield tuple(words)


def _unwrapped(words: tuple[str, ...]) -> tuple[str, ...]:
    """Drop assignments and programs that only run another one, with their options and numbers."""
    while words:
        program = PurePath(words[0]).name
        if "=" in words[0] and words[0].split("=", 1)[0].isidentifier():
            words = words[1:]
        elif program in _WRAPPERS:
            words = words[1:]
            while words and (words[0].startswith("-") or words[0][:1].isdigit()):
                words = words[1:]
        else:
            return words
    return ()


def _script(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of ``sh -c SCRIPT``."""
    for index, word in enumerate(words[1:], start=1):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c") and index + 1 < len(words):
            return _split(words[index + 1])
    return ()


def _split(script: str) -> tuple[str, ...]:
    lexer = shlex.shlex(script, posix=True, punctuation_chars="&|;")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return tuple(lexer)
    except ValueError:
        return tuple(script.split())


def _git(words: tuple[str, ...], cwd: Path) -> Invocation | None:
    git_dir = None
    while words and words[0].startswith("-"):
        option, sep, value = words[0].partition("=")
        if option == "-C" and len(words) > 1:
            cwd, words = cwd / words[1], words[2:]
        elif option in {"--git-dir", "--work-tree"} and not sep and len(words) > 1:
            git_dir = words[1] if option == "--git-dir" else git_dir
            words = words[2:]
        elif option in _VALUE_OPTIONS and not sep and len(words) > 1:
            words = words[2:]
        else:
            git_dir = value if option == "--git-dir" else git_dir
            words = words[1:]
    return Invocation(words[0], words[1:], cwd, git_dir) if words else None
