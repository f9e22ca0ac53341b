"""Which of the rules that hold names the failure, and why the others lost: one sort key.

    1. where it stands: the tool's last word, an error line, plain output, trouble that the run outlived
    2. what it knows: a rule that names the cause before one that names only its family or repeats it
    3. trust: a structured code, then the innermost cause, a status, an exit status, text
    4. depth: the root cause before what followed from it
    5. safety: of equal evidence, the class whose mistake costs least (`severity`)
    6. the rule's own priority, then the earlier line, then its slug

Two things are not in the key itself. A specific rule next to a general one speaks of the same failure, so it stands where that
one stands: this is how a body's meaning overrides its status. And a rule for ``provider`` never wins on trust alone over a
specific rule of another class: a blind retry needs more than a code that vendors use for everything.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.rules.model import Candidate, Trust
from rerail.rules.readers.model import Weight

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rerail.rules.match import Found
    from rerail.rules.readers.model import Line

BLIND_RETRY = "provider"
REFUSAL = "deterministic-policy"
"""Its general words override a status too, because the body says it: nothing is tried again that was refused."""
NEAR_LINES = 12
"""How far from a general rule's line a specific one still speaks of the same response, in lines."""
FEW_LINES = 60
"""Visible lines of a failure in which everything is near everything else."""
_ECHO = 1.5
"""What a text is worth that only repeats that something failed: less than any line that may name the cause."""
_LAST_RESORT = -3
"""From this priority down, a rule knows what a program is for, and nothing of what it said; below it, it knows a few words."""
TRACED = 12
"""Candidates that a trace keeps, the winner first."""


class Rank(NamedTuple):
    """The sort key, in its order; see the module's docstring."""

    weight: float
    specific: bool
    trust: int
    depth: int
    severity: int
    priority: int
    earlier: int
    slug: str


class Rival(NamedTuple):
    """A rule that holds, with its place in the order."""

    found: Found
    rank: Rank


class Choice(NamedTuple):
    """The rule that names the failure, and what it stands beside."""

    winner: Found
    agreeing: tuple[Found, ...]
    """Other rules of the same class, the strongest first."""
    trace: tuple[Candidate, ...]
    """All that held, the winner first, each with its verdict."""


def choose(found: Iterable[Found], lines: Sequence[Line]) -> Choice | None:
    """Return the rule that names the failure; None when none holds.

    Args:
        found: Rules that hold, in any order; of several matchers of one rule the strongest counts.
        lines: The visible lines of the failure, to tell what is near what.
    """
    rivals = sorted(_rivals(found, lines), key=lambda rival: rival.rank, reverse=True)
    if not rivals:
        return None
    first = rivals[0]
    allies = [rival for rival in rivals if _class_of(rival) == _class_of(first) and _counts_beside(rival, first)]
    # The class is chosen by the strongest evidence, the reason by what says most within it.
    winner = max(allies, key=_precision)
    trace = [_candidate(winner.found, "won")]
    for rival in rivals:
        if rival is not winner:
            stronger = winner if _class_of(rival) == _class_of(winner) else first
            trace.append(_candidate(rival.found, _why_lost(rival, stronger)))
    agreeing = tuple(rival.found for rival in allies if rival is not winner)
    return Choice(winner.found, agreeing, tuple(trace[:TRACED]))


def _class_of(rival: Rival) -> str:
    return rival.found.rule.class_


def _counts_beside(rival: Rival, first: Rival) -> bool:
    both_general = rival.found.rule.general and first.found.rule.general
    return both_general or rival.rank.weight >= min(Weight.PLAIN, first.rank.weight)


def _precision(rival: Rival) -> tuple[bool, bool, bool, float, int, int, int, Rank]:
    """Order rules of one class: what says more than a status or an exit status does comes first."""
    found = rival.found
    is_bare = found.trust in (Trust.EXIT, Trust.STATUS)
    return (
        not found.rule.general,
        not is_bare,
        found.rule.priority > _LAST_RESORT,
        found.weight,
        found.depth,
        found.trust,
        found.rule.priority,
        rival.rank,
    )


def _rivals(found: Iterable[Found], lines: Sequence[Line]) -> Iterable[Rival]:
    """Return each rule once, by its strongest matcher, without strays."""
    everything = list(found)
    general = [each for each in everything if each.rule.general]
    strongest: dict[str, Rival] = {}
    for each in everything:
        rival = Rival(each, _rank(each, general, lines))
        other = strongest.get(each.rule.slug)
        if other is None or rival.rank > other.rank:
            strongest[each.rule.slug] = rival
    return [rival for rival in strongest.values() if not _is_stray(rival, lines)]


def _rank(each: Found, general: Sequence[Found], lines: Sequence[Line]) -> Rank:
    rule = each.rule
    weight: float = each.weight
    trust = Trust.TEXT if rule.class_ == BLIND_RETRY else each.trust
    if rule.class_ == REFUSAL and trust is Trust.STATUS:
        trust = Trust.CODE  # 401 and 403 say more than codes for whatever was wrong with a request
    if rule.general:
        weight = weight - 0.5 if each.groups is None else min(weight, _ECHO)
        if rule.class_ == REFUSAL and (
            weights := [other.weight - 0.5 for other in general if _is_status_of(other, each, lines)]
        ):
            weight, trust = max(weight, *weights), max(trust, Trust.STATUS)
    elif weight >= Weight.PLAIN:
        above = [other for other in general if other.weight > weight]
        weight = max([weight, *(other.weight for other in above if _is_near(each, other, lines))])
    if rule.priority < _LAST_RESORT:
        weight = 0
    return Rank(weight, not rule.general, trust, each.depth, rule.severity, rule.priority, -each.place, rule.slug)


def _is_status_of(other: Found, words: Found, lines: Sequence[Line]) -> bool:
    """Tell whether a rule knows nothing but the status, or that it may pass, of the response whose words another one knows."""
    return (other.trust is Trust.STATUS or other.rule.class_ == BLIND_RETRY) and _is_near(words, other, lines)


def _is_stray(rival: Rival, lines: Sequence[Line]) -> bool:
    """Tell whether words of a retryable failure stand in ordinary output, while other lines tell of an error.

    Of a long log, no words that only name a family count on lines that the run outlived.
    """
    found = rival.found
    if found.rule.general and found.groups is not None and found.weight <= Weight.WENT_ON and len(lines) > FEW_LINES:
        return True
    if _class_of(rival) != BLIND_RETRY or rival.rank.weight > Weight.PLAIN:
        return False
    if rival.found.weight >= Weight.PLAIN and len(lines) <= FEW_LINES:
        return False
    return any(line.weight >= Weight.ERROR for line in lines)


def _is_near(specific: Found, general: Found, lines: Sequence[Line]) -> bool:
    """Tell whether two rules speak of one response."""
    if len(lines) <= FEW_LINES or specific.place < 0:
        return True
    if general.place < 0:
        return specific.place >= len(lines) - FEW_LINES
    one, other = lines[specific.place], lines[general.place]
    return one.stream == other.stream and abs(one.number - other.number) <= NEAR_LINES


def _candidate(each: Found, verdict: str) -> Candidate:
    rule = each.rule
    return Candidate(rule.slug, rule.class_, rule.reason, each.trust, each.citations, verdict)  # type: ignore[arg-type]


_WEIGHT_WORDS = {
    Weight.WENT_ON: "trouble that the run outlived",
    Weight.PLAIN: "plain output",
    Weight.ERROR: "an error line",
    Weight.DECIDING: "the tool's last word",
}


def _why_lost(loser: Rival, winner: Rival) -> str:
    """Say in words which part of the key came first."""
    found, rank = loser
    slug = winner.found.rule.slug
    if _class_of(loser) == _class_of(winner):
        return f"says the same as {slug}, less precisely"
    if found.rule.general and not winner.found.rule.general:
        return f"names only the family; {slug} names the cause"
    if rank.weight != winner.rank.weight:
        return f"stands on {_WEIGHT_WORDS[found.weight]}; {slug} stands on {_WEIGHT_WORDS[winner.found.weight]}"
    if rank.trust != winner.rank.trust:
        return f"less trusted than {slug}: {found.trust.name.lower()} against {winner.found.trust.name.lower()}"
    if rank.depth != winner.rank.depth:
        return f"an echo of {slug}, which is nearer the root cause"
    if rank.severity != winner.rank.severity:
        return f"less safe than {slug}: wrongly named {_class_of(winner)}, it costs less than wrongly named {_class_of(loser)}"
    if rank.priority != winner.rank.priority:
        return f"of lower priority than {slug}"
    return f"stands later than {slug}"
