"""The closed registry of hints: all the advice that a result can carry.

A hint is declared by a function: its keyword parameters are the typed fields, its docstring says when the hint is given, and
what it returns is the advice. Calling the declared name fires the hint. It is rendered on the way out, by
`rerail.boundary.serialize`, so no verb can hand in advice of its own. Commands stand in backquotes and are checked against the
live command table.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

from rerail.boundary.slugs import ERROR_FAILURE_RECOVERY, NEVER_GENERIC, ErrorSlug, Mode
from rerail.light_typing import TYPE_CHECKING, Generic, NamedTuple, ParamSpec, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FunctionType

    from rerail.boundary.slugs import Recovery

P = ParamSpec("P")


class Category(StrEnum):
    """What a hint is for."""

    NEXT_STEP = "next-step"
    """What to do now; a failed result has at least one."""
    GUARDRAIL = "guardrail"
    """What not to do, and why."""
    NOTICE = "notice"
    """What is good to know."""


class Audience(StrEnum):
    """Who can act on a hint."""

    CALLER = "caller"
    """Whoever ran the verb: an agent, a script, a person."""
    OPERATOR = "operator"
    """The person who owns the policy; an agent passes it on."""


class Advice(NamedTuple):
    """A rendered hint's words."""

    text: str
    command: tuple[str, ...] = ()
    """The one command that is the step, or that it begins with, ready to run; empty where the step is no command, or a choice."""


class Hint(NamedTuple):
    """A fired hint: which, and with what."""

    id: str
    fields: Mapping[str, object]


class Entry(Generic[P]):
    """A registered hint. Calling it with its fields fires it."""

    def __init__(
        self, template: Callable[P, Advice], category: Category, audience: Audience, family: frozenset[ErrorSlug]
    ) -> None:
        self.id = template.__name__.replace("_", "-")
        self.category, self.audience = category, audience
        self.family = family
        """The failures that it continues; empty for a hint that any result may carry."""
        self.template = template
        # inspect would say the same, and costs a hook 10 ms to import.
        code = cast("FunctionType", template).__code__
        self.fields = code.co_varnames[: code.co_kwonlyargcount]
        """The names of its fields, all of them text."""
        self.documentation = template.__doc__ or ""

    def __call__(self, *args: P.args, **fields: P.kwargs) -> Hint:
        """Fire the hint."""
        assert not args, "a hint's fields go by name"
        return Hint(self.id, MappingProxyType(dict(fields)))


_registry: dict[str, Entry[...]] = {}


def _hint(category: Category, audience: Audience, *family: ErrorSlug) -> Callable[[Callable[P, Advice]], Entry[P]]:
    def register(template: Callable[P, Advice]) -> Entry[P]:
        entry = Entry(template, category, audience, frozenset(family))
        _registry[entry.id] = entry
        return entry

    return register


def _quoted(*command: str) -> str:
    return f"`{' '.join(map(_word, command))}`"


def _word(word: str) -> str:
    """Return a word as a shell takes it."""
    if word.isascii() and word.replace("-", "").isalnum():
        return word
    from shlex import quote  # which brings `re`, 3 ms for a hook

    return quote(word)


def _split(command: str) -> list[str]:
    from shlex import split

    return split(command)


@_hint(Category.NEXT_STEP, Audience.CALLER)
def correct_and_run_again() -> Advice:
    """The generic floor: the message, or the first diagnostic, already says what to correct."""
    return Advice("Correct what the message or the first diagnostic names, then run the same command again.")


@_hint(Category.NEXT_STEP, Audience.CALLER)
def correct_call(*, call: str) -> Advice:
    """The call itself cannot be done as it stands; *call* is the command that it was made to."""
    command = (*_split(call), "--help")
    return Advice(f"Correct the call as the message says; {_quoted(*command)} shows what it takes.", command)


@_hint(Category.NEXT_STEP, Audience.CALLER)
def check_again(*, check: str) -> Advice:
    """A verb looked, and found something wrong; *check* is the verb, which shows whether that is mended."""
    command = ("rerail", *_split(check))
    return Advice(f"Correct what the diagnostics name; {_quoted(*command)} looks again.", command)


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.HANDED_BACK)
def repair_input(*, unit: str) -> Advice:
    """The unit's input was rejected, and the caller is the one who can change it."""
    return Advice(f"Change what the repair request says, then run unit {unit} again; unchanged it is refused.")


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.INPUT_UNCHANGED)
def change_input_first(*, unit: str) -> Advice:
    """The unit was not run: its input is one that was already rejected."""
    return Advice(f"Change what the repair request says first, then run unit {unit} again; it was not run.")


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.PAUSED)
def answer_pause(*, pause: str) -> Advice:
    """A question is open that only the operator can answer."""
    answer = f"`rerail answer {_word(pause)} retry|approve|skip|abort`"
    return Advice(
        f"Ask the operator: `rerail pauses` shows the question, {answer} answers it, once.", ("rerail", "pauses")
    )


@_hint(Category.NEXT_STEP, Audience.OPERATOR)
def give_answer(*, unit: str, pause: str) -> Advice:
    """An open question is shown to whoever can answer it."""
    return Advice(f"{unit}: `rerail answer {_word(pause)} retry|approve|skip|abort`.")


@_hint(Category.NOTICE, Audience.OPERATOR)
def answered_for_another(*, pause: str, answer: str) -> Advice:
    """The unit's answer took effect on another command than the one that the question was about."""
    return Advice(
        f"The answer to {pause}, {answer}, was given when this unit had another command (`rerail pauses --all` shows it);"
        " it is spent on this one.",
        ("rerail", "pauses", "--all"),
    )


@_hint(Category.NEXT_STEP, Audience.CALLER)
def resume_answered(*, unit: str) -> Advice:
    """The operator let a unit run again, and it is a command, which any process can run."""
    command = ("rerail", "resume", unit)
    return Advice(f"{_quoted(*command)} runs it.", command)


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.PAUSED_UNTIL)
def resume_at(*, unit: str, time: str) -> Advice:
    """A time is awaited, not a person."""
    command = ("rerail", "resume", unit)
    return Advice(f"Wait until {time}, then go on with {_quoted(*command)}.", command)


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.OUTCOME_UNKNOWN)
def check_effect(*, unit: str, pause: str) -> Advice:
    """An attempt that changes something was cut off, and nobody can say whether it took effect."""
    landed, absent = _quoted("rerail", "answer", pause, "skip"), _quoted("rerail", "answer", pause, "retry")
    return Advice(f"Look whether the effect of unit {unit} is there. If it is: {landed}; if it is not: {absent}.")


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.UNCLASSIFIED)
def name_failure(*, pause: str) -> Advice:
    """No rule has evidence for the failure."""
    why = ("rerail", "why", pause)
    answer = f"`rerail answer {_word(pause)} retry|skip|abort`"
    return Advice(
        f"{_quoted(*why)} shows the failure. Give it a rule in .rerail/recipes/ (`rerail rules test` checks it), then {answer}.",
        why,
    )


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.STOPPED, ErrorSlug.NOT_RECOVERED)
def remove_cause(*, failure_class: str, remedy: str) -> Advice:
    """The cause lies outside the unit; *remedy* is what the failure's reason says about it."""
    explain = _quoted("rerail", "explain", failure_class)
    return Advice(f"{remedy[:1].upper()}{remedy[1:]}. {explain} says more about failures of this class.")


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.STOPPED, ErrorSlug.NOT_RECOVERED)
def heed_operator(*, unit: str) -> Advice:
    """The operator answered that the unit is to be skipped, or ended."""
    return Advice(f"Go on without unit {unit}, as the operator said; run it again only when the operator wants it.")


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.CANCELLED)
def run_when_wanted(*, unit: str) -> Advice:
    """The run was cancelled: nothing was charged and nothing failed, but the attempt may have acted in part."""
    return Advice(f"Look at what unit {unit} did before it was cut off; run it again when it is wanted.")


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.WORKTREE_REFUSED)
def pass_worktree_check(*, root: str) -> Advice:
    """Nothing runs in a refused worktree until the five-line check passes there."""
    return Advice(
        f"In {root}, repair the line that `rerail check` reports as failed; the check readmits the worktree.",
        ("rerail", "check"),
    )


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.NOT_HEALED, ErrorSlug.HEAL_STEP_REFUSED)
def finish_by_hand() -> Advice:
    """No recipe fits the repository's state, or one failed and the state before it was restored."""
    return Advice(
        "Resolve it by hand; where steps were tried, the backup keeps the state before them."
        " `rerail heal --plan --failure FILE` shows what a recipe would do now."
    )


@_hint(Category.NEXT_STEP, Audience.OPERATOR)
def take_way(*, to: str, commands: str) -> Advice:
    """A guide knows the state that a failure left, and one way out of it, which is a person's to go."""
    return Advice(f"To {to}: {commands} (yours to run: fill in what stands in capitals).")


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.NOT_HEALED)
def hand_in_failure() -> Advice:
    """Nobody said what failed, and a heal answers a failure."""
    return Advice("Pass what failed as evidence JSON: `rerail heal --failure FILE`, or - for standard input.")


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.RECIPE_UNTRUSTED)
def trust_recipe(*, file: str) -> Advice:
    """A project's recipe would run commands, and the operator has not trusted this exact content."""
    return Advice(f"Read {file}; if its commands may run, trust it with {_quoted('rerail', 'recipes', 'trust', file)}.")


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.NOT_ALLOWED)
def ask_for_leave(*, entry: str, file: str) -> Advice:
    """An agent asked for what the operator has not allowed agents; *entry* is what would allow it."""
    return Advice(
        f"Ask the operator to do it, or to allow it to agents: {entry}, under the project in {file}. Do not look for another way."
    )


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.RECIPE_UNTRUSTED)
def trust_then_answer(*, file: str, pause: str) -> Advice:
    """A unit paused because only an untrusted recipe would heal its failure."""
    trust, answer = _quoted("rerail", "recipes", "trust", file), _quoted("rerail", "answer", pause, "retry")
    return Advice(
        f"Read {file}; if its commands may run, trust it with {trust}, then let the unit go on with {answer}."
    )


@_hint(Category.NOTICE, Audience.OPERATOR)
def revoke_trust(*, file: str) -> Advice:
    """A recipe was trusted to run its commands."""
    command = ("rerail", "recipes", "trust", file, "--revoke")
    return Advice(
        f"What its programs read is not covered: a manifest, a Makefile. {_quoted(*command)} takes it back.", command
    )


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.UNIT_BUSY)
def let_other_run_finish() -> Advice:
    """Another live process runs the unit."""
    return Advice(
        "Let the other run of the unit finish, then run it again; `rerail ledger show` says how it ended. Where that run's host"
        " is gone for good, the operator lets go of the unit: `rerail ledger release UNIT`."
    )


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.LEASE_LOST)
def leave_to_other_run() -> Advice:
    """A run came back after another process had taken its unit over; what it did is not recorded."""
    return Advice(
        "Leave the unit to the run that has it now; `rerail ledger show` says how that one ends. Look at what this attempt did.",
        ("rerail", "ledger", "show"),
    )


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.BELOW_THRESHOLD)
def mend_wrong_cases(*, corpus: str) -> Advice:
    """A figure on a corpus is not what was asked for."""
    command = ("rerail", "eval", corpus)
    return Advice(
        f"{_quoted(*command)} lists each wrong case with the rule that decided; `rerail explain RULE` says why the rule is there."
        " Mend the rule, or the case's label where that is wrong.",
        command,
    )


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.ALREADY_ANSWERED)
def keep_first_answer() -> Advice:
    """A pause is answered once."""
    return Advice(
        "The first answer stands. Run the unit again to go on with it; `rerail pauses` shows what is still open."
    )


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.PHASE_UNRESOLVED)
def state_phases(*, phases: str, file: str) -> Advice:
    """A phase that must be verified is stated by no file of the project, and is never made up."""
    return Advice(
        f"Ask the operator how this project verifies {phases}. The answer is a table [verify.PHASE] in {file}: a command, or skip"
        " with the reason. `rerail verify --plan` shows what is stated.",
        ("rerail", "verify", "--plan"),
    )


@_hint(Category.NOTICE, Audience.OPERATOR)
def phases_unstated(*, phases: str, file: str) -> Advice:
    """Phases that nobody asked for by name are stated by no file of the project."""
    return Advice(f"Not verified: {phases}. A table [verify.PHASE] in {file} says how, or why not.")


_LISTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "class": (("rerail", "taxonomy"),),
    "reason": (("rerail", "taxonomy"),),
    "rule": (("rerail", "rules", "list"),),
    "class, reason, rule, heal, slug or exit code": (
        ("rerail", "taxonomy"),
        ("rerail", "rules", "list"),
    ),
    "recipe": (("rerail", "recipes", "list"),),
    "backup": (("rerail", "heal", "--backups"),),
    "tool": (("rerail", "mcp", "--help"),),
    "schema": (("rerail", "schema"),),
    "phase": (("rerail", "verify", "--plan"),),
    "pause": (("rerail", "pauses"),),
    "unit": (("rerail", "ledger", "show"),),
    "event": (("rerail", "ledger", "show"),),
    "event, unit or pause": (("rerail", "ledger", "show"),),
}


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.UNKNOWN_NAME)
def list_names(*, kind: str) -> Advice:
    """Nothing carries the name; *kind* says what was named, and so which command lists what exists."""
    commands = _LISTS.get(kind, (("rerail", "--help"),))
    return Advice(f"Use a name that {' or '.join(_quoted(*command) for command in commands)} shows.", commands[0])


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.LEDGER_UNUSABLE)
def restore_ledger() -> Advice:
    """The state store cannot be read or written; what it held counts as spent until it can."""
    return Advice(
        "`rerail doctor` names the ledger in use. Make it readable and writable, or name another one in RERAIL_LEDGER;"
        " until then its budgets count as spent.",
        ("rerail", "doctor"),
    )


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.GIT_UNUSABLE)
def restore_git() -> Advice:
    """The git program could not be run or asked."""
    return Advice(
        "`rerail doctor` says which git is found and what it answers; install or repair it.", ("rerail", "doctor")
    )


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.GIT_FAILED)
def look_at_repository() -> Advice:
    """A git command that had to succeed did not."""
    return Advice(
        "Look at the repository: the message has git's own words. `rerail heal --plan` shows what a recipe would do."
    )


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.UNDO_REFUSED)
def undo_by_hand() -> Advice:
    """An undo would have written over work that is newer than the heal; nothing was changed."""
    return Advice(
        "Keep the newer work, or take what is needed out of the backup by hand; `rerail heal --backups` lists the backups.",
        ("rerail", "heal", "--backups"),
    )


@_hint(Category.NEXT_STEP, Audience.CALLER, ErrorSlug.UNDO_REFUSED)
def undo_later(*, backup: str) -> Advice:
    """Somebody else is at work in the repository; nothing was changed."""
    command = ("rerail", "heal", "--undo", backup)
    return Advice(f"Let the other process end, then run {_quoted(*command)} again.", command)


@_hint(Category.NOTICE, Audience.CALLER)
def undo_heal(*, backup: str) -> Advice:
    """A heal changed the repository, and can be taken back as long as nobody has gone on from it."""
    command = ("rerail", "heal", "--undo", backup)
    return Advice(f"{_quoted(*command)} takes it back.", command)


@_hint(Category.NOTICE, Audience.OPERATOR)
def backups_expired(*, backups: str) -> Advice:
    """Old backups were let go by the policy in the settings."""
    return Advice(
        f"Backups that were due have expired: {backups}. The table [backups] of the settings says how long they stay."
    )


@_hint(Category.NEXT_STEP, Audience.OPERATOR, ErrorSlug.INTERNAL, ErrorSlug.GIT_COMMAND_FORBIDDEN)
def report_bug() -> Advice:
    """A bug of rerail ended the verb."""
    return Advice(
        "Report it as a bug of rerail, with its report and version. Do not run the unit again before looking at what it did."
    )


@_hint(Category.NEXT_STEP, Audience.CALLER)
def act_on_name(*, failure_class: str, remedy: str) -> Advice:
    """A tool call failed and was named; *remedy* is what the failure's reason says about it."""
    explain = _quoted("rerail", "explain", failure_class)
    return Advice(f"{remedy[:1].upper()}{remedy[1:]}. {explain} says more about failures of this class.")


@_hint(Category.GUARDRAIL, Audience.CALLER)
def heed_pitfall(*, failure_class: str, pitfall: str) -> Advice:
    """What must not be done about a failure of this class; *pitfall* is the taxonomy's own word."""
    return Advice(f"{failure_class}: {pitfall}.")


@_hint(Category.NOTICE, Audience.OPERATOR)
def complete_drafts() -> Advice:
    """Rules were drafted for failures that no rule names; what they mean is for a person to say."""
    return Advice(
        "Keep the drafts in a file and fill in what is empty; `rerail rules test FILE` says what is missing."
        " Then move the file to .rerail/recipes/."
    )


@_hint(Category.NOTICE, Audience.OPERATOR)
def draft_rule() -> Advice:
    """No rule names a failure that is shown."""
    command = ("rerail", "rules", "learn")
    return Advice(f"{_quoted(*command)} drafts rules for recorded failures that no rule names.", command)


@_hint(Category.NOTICE, Audience.CALLER)
def explain_rule() -> Advice:
    """Rules were listed by name alone."""
    return Advice("`rerail explain RULE` says why a rule is there, and from which source.")


@_hint(Category.NOTICE, Audience.OPERATOR)
def ledger_in_project(*, path: str) -> Advice:
    """The user's state directory cannot be written, as in some sandboxes, so the ledger lies in the project."""
    return Advice(f"The ledger is {path}, inside the project: there is no state directory of the user's to write to.")


GENERIC_FLOOR = correct_and_run_again.id


def contradictions(recoveries: Mapping[ErrorSlug, Recovery], registry: Mapping[str, Entry[...]]) -> Iterator[str]:
    """Yield where the two authorities disagree: a slug is tailored exactly when a next step is registered for it."""
    steps = [entry for entry in registry.values() if entry.category is Category.NEXT_STEP]
    continued = {slug for entry in steps for slug in entry.family}
    tailored = {slug for slug, recovery in recoveries.items() if recovery.mode is Mode.TAILORED}
    for slug in ErrorSlug:
        if slug not in recoveries:
            yield f"{slug} has no recovery"
        if slug in tailored - continued:
            yield f"{slug} is tailored, and no next step is registered for it"
        if slug in continued - tailored:
            yield f"{slug} has a next step of its own, and is not tailored"
        if slug in NEVER_GENERIC - tailored:
            yield f"{slug} may never fall back to the generic hint, and is not tailored"
    if not any(entry.id == GENERIC_FLOOR and not entry.family for entry in steps):
        yield "the generic hint is not a next step of every family"


def checked(recoveries: Mapping[ErrorSlug, Recovery], registry: Mapping[str, Entry[...]]) -> Mapping[str, Entry[...]]:
    """Return a read-only *registry*.

    Raises:
        ValueError: It and *recoveries* disagree.
    """
    if found := "; ".join(contradictions(recoveries, registry)):
        raise ValueError(found)
    return MappingProxyType(dict(registry))


REGISTRY = checked(ERROR_FAILURE_RECOVERY, _registry)
"""Every hint, by its id."""
