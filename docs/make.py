"""Makes the pages that are made from the tables: ``make docs``. With ``--check`` it only says which of them are out of date.

Pages are made whole here and in `heals`; the tables inside written pages are those of `parts`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import heals
import schemas
from api_parts import answers
from parts import filled
from tables import table

from rerail.boundary.exit_codes import ExitCode
from rerail.boundary.hints import REGISTRY
from rerail.boundary.slugs import ERROR_FAILURE_RECOVERY, ERRORLESS_FAILURE_RECOVERY
from rerail.observe import BOUND, EVENTS, FIELDS
from rerail.taxonomy import BUILT_IN, Action

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rerail.taxonomy import ClassSpec

DOCS = Path(__file__).parent
MADE = "<!-- Made by `make docs` from the tables; edit those. -->\n"


class ActionText(NamedTuple):
    """What a page says about an action."""

    what: str
    how: str
    misuse: str


ACTIONS = {
    Action.RETRY: ActionText(
        what="Wait, then run the same input again.",
        how="""\
The wait is the longer of rerail's curve (doubling from 1 s to 60 s, or any tenacity strategy) and the server's own
hint; positive jitter is added to both. A hint past the horizon (300 s) becomes a pause until then. A unit with unsafe
effects whose effect may have landed is asked first.""",
        misuse="a retry needs positive evidence that the failure is transient; no other class is ever retried as it is.",
    ),
    Action.REPAIR: ActionText(
        what="Change the input, then run again; an input that was rejected never runs twice.",
        how="""\
What the validator's message, the schema and the declared context allow is changed at once. Everything else is asked
of the unit's `repair` callback. Where there is none, the unit is handed back: the caller changes the input, and the
next run of the unit is the next attempt of the same budget.""",
        misuse="a truncated call is never completed, and strings are never edited: that makes valid, wrong, runnable input.",
    ),
    Action.HEAL: ActionText(
        what="Bring the repository back by a known recipe, then run again.",
        how="""\
Everything that a step could touch is backed up first, by object id under `refs/rerail/`. A condition that does not
hold, a live owner or a failed check pauses with nothing changed. `rerail heal --plan` shows the steps.

What no recipe fits pauses at once, and is not charged. `rerail heal --undo ID` takes a heal [back](../backups.md).

[Heals](../heals.md) has the ones that ship; a project adds its own in [recipes](../recipes.md#a-heal). One whose steps run
commands needs the operator's [trust](../recipes.md#trust).""",
        misuse="a heal never counts as success: only the unit's own next run does.",
    ),
    Action.PAUSE: ActionText(
        what="Ask the operator, durably, and wait.",
        how="""\
The question is kept until it is answered, once. A unit with an open question is not run. A pause that names a time
opens by itself. An answer takes effect when the unit runs next: by its harness, or by `rerail resume`.""",
        misuse="a pause is not a failure to be worked around: the gate exists because a retry is wrong.",
    ),
    Action.STOP: ActionText(
        what="Surface it and end.",
        how="Nothing is spawned. A worktree that failed stays refused until `rerail check` passes there.",
        misuse="never fall back to another directory: the writes would land in the wrong tree.",
    ),
}


def class_page(spec: ClassSpec) -> Iterator[str]:
    yield f"# {spec.name}"
    yield from ("", f"Looks like: {spec.signal}.", "")
    yield from table(
        ("", ""),
        [
            ("action", f"[{spec.action}](../actions/{spec.action}.md): {spec.advice}"),
            ("budget", f"{spec.budget} {'recovery' if spec.budget == 1 else 'recoveries'} per unit"),
            ("pitfall", spec.pitfall),
            ("pack", f"`{spec.pack}`"),
        ],
    )
    yield from ("", "## Reasons", "")
    yield from table(
        ("reason", "what happened", "what to do next", "action"),
        [(f"`{each.name}`", each.summary, each.hint, each.action) for each in BUILT_IN.reasons(spec.name)],
    )
    yield from ("", f"`rerail rules list --class {spec.name}` shows the rules that know it.")


def classes() -> Iterator[str]:
    yield "# Classes"
    yield from (
        "",
        "Each failure gets one class and, within it, one reason. The class chooses the action, and has its own budget.",
        "",
    )
    yield from table(
        ("class", "looks like", "action", "budget"),
        [
            (
                f"[{each.name}](classes/{each.name}.md)",
                each.signal,
                f"[{each.action}](actions/{each.action}.md)",
                each.budget,
            )
            for each in BUILT_IN
        ],
    )


ANSWERED_FOR_ANOTHER = """\
A question freezes the unit, whatever its command, and an answer lets the unit go on. `rerail resume UNIT` runs exactly the
command that was asked about. Where the unit is run with another one instead, or in another directory - often that is how an
agent mended the call - the answer is spent on that one, and never silently: the result has the notice `answered-for-
another`, and the event `answer.spent` stays in the ledger. An approval reaches no further than before: the gate that denied
judges the other command itself."""


def action_page(action: Action) -> Iterator[str]:
    said = ACTIONS[action]
    yield f"# {action}"
    yield from ("", said.what, "", said.how, "", f"Misuse: {said.misuse}", "")
    if action is Action.PAUSE:
        yield from ("## Answers", "")
        yield from answers()
        yield from ("", ANSWERED_FOR_ANOTHER, "")
    owners = [spec.name for spec in BUILT_IN if spec.action is action]
    yield "Default of: " + ", ".join(f"[{name}](../classes/{name}.md)" for name in owners) + "."


def actions() -> Iterator[str]:
    yield "# Actions"
    yield from ("", "The closed set of what rerail does about a failure.", "")
    yield from table(
        ("action", "what"), [(f"[{action}](actions/{action}.md)", said.what) for action, said in ACTIONS.items()]
    )


def events() -> Iterator[str]:
    yield "# Events"
    yield ""
    yield "One event per step of the path. Every event may carry " + ", ".join(f"`{name}`" for name in BOUND) + "."
    yield ""
    levels = {10: "debug", 20: "info", 30: "warning"}
    yield from table(
        ("event", "level", "meaning", "fields"),
        [
            (f"`{name}`", levels[spec.level], spec.meaning, ", ".join(f"`{field}`" for field in spec.fields))
            for name, spec in EVENTS.items()
        ],
    )
    yield from ("", "## Fields", "")
    yield from table(("field", "meaning"), [(f"`{name}`", meaning) for name, meaning in FIELDS.items()])


def errors() -> Iterator[str]:
    yield "# Errors, hints and exit codes"
    yield from ("", "## Exit codes", "")
    yield from table(("code", "meaning"), [(int(code), code.meaning) for code in ExitCode])
    yield from ("", "## Error slugs", "")
    yield "`evidence`: the message or first diagnostic carries the correction. `tailored`: a hint of its own says where it lies."
    yield ""
    rows = [(f"`{slug}`", each.mode, each.producers, each.audit) for slug, each in ERROR_FAILURE_RECOVERY.items()]
    none = ERRORLESS_FAILURE_RECOVERY
    yield from table(
        ("slug", "mode", "returned by", "correction"), [*rows, ("none", none.mode, none.producers, none.audit)]
    )
    yield from ("", "## Hints", "")
    yield from table(
        ("hint", "category", "for", "after", "when"),
        [
            (f"`{each.id}`", each.category, each.audience, ", ".join(sorted(each.family)) or "any", each.documentation)
            for each in REGISTRY.values()
        ],
    )


def pages() -> dict[str, str]:
    """Return every page that is made, whole or in part, by its path below docs/."""
    made = {
        "classes.md": classes(),
        "actions.md": actions(),
        "events.md": events(),
        "errors.md": errors(),
        "heals.md": heals.page(),
        **{f"classes/{spec.name}.md": class_page(spec) for spec in BUILT_IN},
        **{f"actions/{action}.md": action_page(action) for action in Action},
    }
    whole = {path: text(lines) for path, lines in made.items()}
    whole |= schemas.files()
    written = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md") if path.name not in whole}
    return whole | {name: filled(page) for name, page in written.items()}


def stale() -> list[str]:
    """Return the pages that are not what the tables say."""
    return [path for path, page in pages().items() if not (DOCS / path).exists() or (DOCS / path).read_text() != page]


def text(lines: Iterable[str]) -> str:
    """Return a page's whole text."""
    return MADE + "\n".join(lines) + "\n"


def main() -> int:
    """Make the pages, or check them."""
    if "--check" in sys.argv[1:]:
        old = stale()
        if old:
            print(f"out of date: {', '.join(old)}; run `make docs`")
        return 1 if old else 0
    for path, page in pages().items():
        (DOCS / path).parent.mkdir(exist_ok=True)
        (DOCS / path).write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
