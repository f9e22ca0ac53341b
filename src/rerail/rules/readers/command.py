"""From a command line to the programs that do its work. Text in, names out; nothing is run or looked up."""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SEPARATORS = frozenset(
    {"&&", "||", ";", "|", "&", "|&", "!", "{", "}", "(", ")", "then", "do", "else", "if", "while", "time"}
)
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"})
_PYTHONS = ("python", "pypy")

_WRAPPERS: dict[str, frozenset[str]] = {
    # A program that runs another one -> its options that take a value, so that the value is not read as the program.
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U"}),
    "doas": frozenset({"-u", "-C"}),
    "env": frozenset({"-u", "-C", "-S"}),
    "nice": frozenset({"-n"}),
    "ionice": frozenset({"-c", "-n"}),
    "timeout": frozenset({"-k", "-s", "--kill-after", "--signal"}),
    "nohup": frozenset(),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "setsid": frozenset(),
    "chronic": frozenset(),
    "command": frozenset(),
    "exec": frozenset({"-a"}),
    "xargs": frozenset({"-n", "-P", "-I", "-L", "-d", "-s", "-a"}),
    "watch": frozenset({"-n"}),
    "caffeinate": frozenset({"-t", "-w"}),
    "strace": frozenset({"-o", "-e", "-p"}),
    "ccache": frozenset(),
    "bwrap": frozenset(),
    "npx": frozenset({"-p", "--package", "-c"}),
    "pnpx": frozenset(),
    "bunx": frozenset(),
    "uvx": frozenset({"--from", "--with", "-p", "--python"}),
    "pipx": frozenset({"--spec"}),
    "dotenv": frozenset({"-f", "-e"}),
    "direnv": frozenset(),
    "firejail": frozenset(),
    "flock": frozenset({"-w"}),
    "corepack": frozenset(),
}
_RUNNERS: dict[str, frozenset[str]] = {
    # A tool whose subcommand runs another program -> those subcommands.
    "uv": frozenset({"run", "tool"}),
    "poetry": frozenset({"run"}),
    "pipenv": frozenset({"run"}),
    "pdm": frozenset({"run"}),
    "hatch": frozenset({"run"}),
    "rye": frozenset({"run"}),
    "conda": frozenset({"run"}),
    "pnpm": frozenset({"exec", "dlx"}),
    "yarn": frozenset({"exec", "dlx"}),
    "npm": frozenset({"exec", "x"}),
    "bun": frozenset({"x"}),
    "bundle": frozenset({"exec"}),
    "mise": frozenset({"exec", "x"}),
    "pipx": frozenset({"run"}),
    "direnv": frozenset({"exec"}),
    "coverage": frozenset({"run"}),
}
_DEPTH = 4
"""How many shells within shells are opened."""


def programs(arguments: Sequence[str], depth: int = 0) -> tuple[str, ...]:
    """Return the lower-case names of the programs that *arguments* run, wrappers included, in the order they run.

    ``sudo -u ci env A=1 timeout 60 python -m pytest`` gives ``sudo, env, timeout, python, pytest``. Operators of a shell split
    one list into several commands; the text of ``sh -c`` is read likewise. What no shell could read is split at blanks.
    """
    names: list[str] = []
    for simple in _simple_commands(arguments):
        names += _chain(simple, depth)
    return tuple(dict.fromkeys(names))


def _simple_commands(arguments: Sequence[str]) -> Iterator[list[str]]:
    current: list[str] = []
    for argument in arguments:
        ends = argument.endswith(";") and len(argument) > 1
        if argument in _SEPARATORS:
            yield current
            current = []
            continue
        current.append(argument[:-1] if ends else argument)
        if ends:
            yield current
            current = []
    yield current


def _chain(simple: list[str], depth: int) -> Iterator[str]:
    """Yield the program of one simple command, and the programs that it runs in turn."""
    rest = simple
    while rest:
        while rest and _is_assignment(rest[0]):
            rest = rest[1:]
        if not rest:
            return
        name = program_name(rest[0])
        if not name:
            return
        yield name
        rest = rest[1:]
        if name in _SHELLS:
            yield from _shell_text(rest, depth)
            return
        if name.startswith(_PYTHONS):
            rest = _module(rest)
            continue
        if name in _RUNNERS and (place := _subcommand(rest, _RUNNERS[name])) is not None:
            rest = _after_options(
                rest[place:], frozenset({"--with", "--python", "-p", "--extra", "--group", "--package", "-n"})
            )
            continue
        if name not in _WRAPPERS:
            return
        rest = _after_options(rest, _WRAPPERS[name])
        if name in ("timeout", "flock") and rest:
            rest = rest[1:]


def program_name(argument: str) -> str:
    """Return a program's bare lower-case name: no directory, no ``.exe``; ``""`` for what is no program."""
    name = argument.replace("\\", "/").rpartition("/")[2].lower()
    for suffix in (".exe", ".cmd", ".bat"):
        name = name.removesuffix(suffix)
    return name


def _is_assignment(argument: str) -> bool:
    name, equals, _ = argument.partition("=")
    return bool(equals) and name.isidentifier()


def _shell_text(rest: list[str], depth: int) -> Iterator[str]:
    for place, argument in enumerate(rest[:-1]):
        if argument.startswith("-") and argument.endswith("c") and not argument.startswith("--"):
            if depth < _DEPTH:
                yield from programs(split(rest[place + 1]), depth + 1)
            return
    script = next((argument for argument in rest if not argument.startswith("-")), "")
    if script:
        yield program_name(script)


def split(text: str) -> list[str]:
    """Split a command line as a shell would, with its operators apart; at blanks where it cannot be."""
    import shlex  # only a shell's text needs it, and most commands come split

    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return text.split()


def _module(rest: list[str]) -> list[str]:
    """Return what ``python`` was told to run: the module of ``-m`` with its arguments; nothing for a script or ``-c``."""
    for place, argument in enumerate(rest):
        if argument == "-m":
            return rest[place + 1 :]
        if not argument.startswith("-") and argument not in ("faulthandler", "dev", "utf8"):
            # A script is a program, too: ``python manage.py``.
            return [argument]
        if argument == "-c":
            return []
    return []


def _subcommand(rest: list[str], wanted: frozenset[str]) -> int | None:
    """Return where the arguments of a wanted subcommand start; None when another subcommand comes first."""
    for place, argument in enumerate(rest):
        if argument in wanted:
            return place + 1
        if not argument.startswith("-"):
            return None
    return None


def _after_options(rest: list[str], with_value: frozenset[str]) -> list[str]:
    place = 0
    while place < len(rest) and rest[place].startswith("-") and len(rest[place]) > 1:
        if rest[place] == "--":
            return rest[place + 1 :]
        place += 2 if rest[place] in with_value else 1
    return rest[place:]
