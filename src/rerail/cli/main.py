"""The table of verbs, and the frame around each: what it raises becomes a result, and a bug leaves a report.

Verbs are imported when they are called, so that one does not pay for the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from rerail._version import __version__
from rerail.boundary import hints
from rerail.boundary.exit_codes import ExitCode
from rerail.boundary.result import Result, failed
from rerail.boundary.slugs import ErrorSlug
from rerail.cli.output import leave, leave_failed, leave_unwritten
from rerail.errors import RerailError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

VERBS = {
    "run": ("run", "Run a command as one unit under recovery."),
    "verify": ("verify", "Run the project's build, types, lint, tests, security and diff as units."),
    "classify": ("classify", "Name a failure: evidence in, classification out."),
    "why": ("why", "Show what named a failure, what lost, and why."),
    "explain": ("explain", "Explain a class, a reason, a rule, a heal, a slug or an exit code."),
    "eval": ("eval", "Score the rules in force on a labelled corpus."),
    "taxonomy": ("taxonomy", "Show the classes, their actions and budgets."),
    "heal": ("heal", "Heal a repository by a known recipe, else pause or stop."),
    "check": ("check", "Check that this worktree is safe to work in."),
    "pauses": ("pauses", "Show the questions that await an answer."),
    "answer": ("answer", "Answer a pause, once."),
    "resume": ("resume", "Run a paused unit again, from any process."),
    "ledger": ("ledger", "Show what the ledger holds."),
    "rules": ("rules", "List the rules in force, test their examples, or draft what they lack."),
    "recipes": ("recipes", "List the recipes in force, test them, or trust one to run its commands."),
    "mcp": ("mcp", "Serve the verbs to an agent as MCP tools."),
    "hook": ("hook", "Name a failed tool call for the harness that tells of it."),
    "schema": ("schema", "Print the JSON Schemas of what others read and write."),
    "init": ("init", "Write a first rerail.toml and recipe directory."),
    "doctor": ("doctor", "Check that rerail can do its work here."),
}
"""Every verb: its module in `rerail.cli`, and its line in the help."""

LIGHT_VERBS = ("classify", "hook")
"""Verbs that read their arguments themselves, for click costs a hook 50 ms."""


class DefaultGroup(click.Group):
    """A group that does the plain thing when it is called without a verb of its own: it shows, or lists.

    Args:
        default: The verb that is meant then.
    """

    def __init__(self, *args: Any, default: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default verb before options that stand alone."""
        is_typed = not ctx.resilient_parsing  # a shell that asks for completions has not typed all of it yet
        if is_typed and (not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Return the verbs in the order of the table, which is the order in which people meet them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's signature
        """Import a verb's command."""
        if cmd_name not in VERBS:
            return None
        if cmd_name in LIGHT_VERBS:
            return click.Command(cmd_name, help=VERBS[cmd_name][1])  # for whoever lists or completes; `main` runs it
        command: click.Command = import_module(f"rerail.cli.{VERBS[cmd_name][0]}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  click's signature
        """List the verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a verb; offer the near ones for a name that is none."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], VERBS)
            raise click.UsageError(
                f"there is no command {args[0]!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""), ctx
            )
        return super().resolve_command(ctx, args)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--json`` to a verb; before the verb it means the same."""

    def here_or_above(ctx: click.Context, _option: click.Parameter, value: bool) -> bool:
        return value or bool(ctx.find_root().params.get("as_json"))

    return click.option(
        "--json", "as_json", is_flag=True, callback=here_or_above, help="Print the envelope on stdout."
    )(function)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rerail", message="%(prog)s %(version)s")
@json_option
def cli(as_json: bool) -> None:
    """Put agent loops back on the rails: each failure is named before the first retry, and its name chooses the action."""


def main(argv: Sequence[str]) -> int:
    """Run a verb and return its exit code.

    Args:
        argv: The arguments after the program's name.
    """
    as_json = "--json" in _own_arguments(argv)
    verb = next((word for word in argv if not word.startswith("-")), "rerail")
    if verb in LIGHT_VERBS and set(argv[: argv.index(verb)]) <= {"--json"}:
        light = import_module(f"rerail.cli.{verb}")  # the verbs that read their arguments themselves
        code: int = light.main([word for at, word in enumerate(argv) if at != argv.index(verb)])
        return code
    try:
        ended = cli.main(args=list(argv), prog_name="rerail", standalone_mode=False)
        return ended if isinstance(ended, int) else 0
    except click.exceptions.Exit as left:
        return left.exit_code
    except click.exceptions.NoArgsIsHelpError as asked:
        return _show_help(asked)
    except click.ClickException as fault:
        call = _call(fault)
        told = UsageError(f"{call}: {' '.join(fault.format_message().split())}")
        return leave(failed(_typed(argv), told, hints.correct_call(call=call)), as_json=as_json)
    except RerailError as error:
        return leave_failed(_typed(argv), error, as_json=as_json)
    except (KeyboardInterrupt, click.Abort):
        return leave(_cancelled(_typed(argv)), as_json=as_json)
    except SystemExit:
        return ExitCode.SUCCEEDED  # click's way out when whoever read a page of help has left
    except OSError as error:
        if {"-h", "--help"} & set(_own_arguments(argv)):
            return leave_unwritten(error)
        return leave_bug(_typed(argv), error, as_json=as_json)
    except Exception as bug:  # noqa: BLE001  a bug is told as one, with a report and its own exit code
        return leave_bug(_typed(argv), bug, as_json=as_json)


def _typed(argv: Sequence[str]) -> str:
    """Return the verb that was called, as its results name it: ``rules list`` for ``rules`` alone too."""
    words = [word for word in _own_arguments(argv) if not word.startswith("-")]
    if not words or words[0] not in VERBS:
        return words[0] if words else "rerail"
    group = import_module(f"rerail.cli.{VERBS[words[0]][0]}").command
    if not isinstance(group, DefaultGroup):
        return words[0]
    return f"{words[0]} {words[1] if len(words) > 1 and words[1] in group.commands else group.default}"


def _own_arguments(argv: Sequence[str]) -> Sequence[str]:
    """Return the arguments that are ours: what follows ``--`` is the child's."""
    return argv[: argv.index("--")] if "--" in argv else argv


def _show_help(asked: click.UsageError) -> int:
    click.echo(asked.format_message())
    return ExitCode.SUCCEEDED


def _call(fault: click.ClickException) -> str:
    """Return the command that a faulty call was made to: ``rerail rules list``."""
    return fault.ctx.command_path if isinstance(fault, click.UsageError) and fault.ctx else "rerail"


def _cancelled(verb: str) -> Result:
    return Result(
        ok=False,
        verb=verb,
        message="cancelled",
        hints=(hints.run_when_wanted(unit=verb),),
        error=ErrorSlug.CANCELLED,
    )


def leave_bug(verb: str, bug: Exception, *, as_json: bool) -> int:
    """Leave with a bug of rerail: what it was in one line, and the report in the data."""
    from rerail.verbs.failed import of_bug

    result = of_bug(verb, bug)

    def show(console: Console) -> None:
        from rerail.cli.pictures import show_lines

        show_lines(console, str(result.data["report"]))

    return leave(result, as_json=as_json, picture=show, aside=True)
