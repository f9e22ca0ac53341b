"""Names a failure: `classify` looks at every rule that could hold, lets the strongest evidence win, and cites what decided.

`RuleSet.present` is the one place where a text meets all rules at once, so that a faster scanner can take its place. What may be
seen is the readers' business, whether a rule holds `match`'s, and who wins `choose`'s. No I/O, no clock; linear in the text.
"""

from __future__ import annotations

from rerail.ids import ClassName, RuleSlug
from rerail.light_typing import TYPE_CHECKING
from rerail.rules.choose import Choice, choose
from rerail.rules.compile import SHADOW
from rerail.rules.match import Found, Known, clipped, holds
from rerail.rules.model import Citation, Classification, Trust
from rerail.rules.readers import view as read
from rerail.rules.readers.lazy import lazy
from rerail.rules.readers.model import Weight
from rerail.rules.readers.traceback import names_a_type
from rerail.rules.text import Text
from rerail.taxonomy.actions import Action

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rerail.evidence.model import Evidence
    from rerail.rules.compile import RuleSet
    from rerail.rules.readers.model import Line, View

SUMMARY_CHARS = 160
MOST_CITED = 5
_SUPPORT_LINES = 12
_ANNOUNCES = lazy(r"(?::(?: \[[A-Z]+-\d+\])?|\baborted!)\s*$")
"""How a line ends whose message stands on the next one."""
_PROPERTY = lazy(r"""\s{0,40}["']?\w{1,40}["']?\s?:\s""")
"""A property on a line of its own, as data is printed for people."""
_TELLS = lazy(
    r"""["']?(?i:message|msg|details?|description|error_description|errorMessage|reason)["']?\s?:\s{1,4}["']\S{1,60}\s"""
)
"""The property that says in words what its neighbours say in codes."""
_HINT_LINES = 60
"""Visible lines, from the end, in which a server's word on when to come back is looked for."""


def classify(evidence: Evidence, rules: RuleSet, *, now: float | None = None) -> Classification:
    """Return the name of a failure, the lines that decided, and everything that lost.

    Args:
        evidence: The failure, as a normaliser made it.
        rules: The rules in force.
        now: Seconds since the epoch at the failure; turns clock times ("resets at 3pm") into waits.
    """
    view = read(evidence)
    text = Text(view)
    choice = choose(_found(view, text, rules), view.lines)
    # Only what may be tried again, or is not understood, has a use for the words "try again in 20 s".
    waits = choice is None or choice.winner.rule.action in (Action.RETRY, Action.PAUSE)
    wait_s, resets_at = _wait(view, now) if waits else (None, None)
    if choice is None or choice.winner.rule.class_ == SHADOW:
        return Classification(
            class_=ClassName("unclassified"),
            reason="not-a-failure" if view.succeeded else "no-evidence",
            rule=RuleSlug(""),
            summary=_unnamed(evidence, view),
            evidence=(),
            action=Action.PAUSE,
            retry_after_s=wait_s,
            resets_at=resets_at,
            trace=() if choice is None else choice.trace,
        )
    rule = choice.winner.rule
    cited = _cited(choice, view)
    return Classification(
        class_=ClassName(rule.class_),
        reason=rule.reason,
        rule=RuleSlug(rule.slug),
        summary=_summary(choice.winner, cited),
        evidence=cited,
        action=Action(rule.action),
        retry_after_s=wait_s,
        resets_at=resets_at,
        may_have_landed=rule.may_have_landed,
        trace=choice.trace,
    )


def _found(view: View, text: Text, rules: RuleSet) -> Iterator[Found]:
    """Yield every matcher that holds; of all the rules, only those with something to see are asked."""
    if view.succeeded:
        return
    known = Known(view.facts)
    asked = {*rules.always}.union(
        *[rules.asked[pattern] for pattern in text.live(rules)], *[rules.stating(*key) for key in known.keys]
    )
    for index in sorted(asked):
        if found := holds(rules.matcher(index), view, known, text, rules):
            yield found


def _cited(choice: Choice, view: View) -> tuple[Citation, ...]:
    """Return what decided, then what the rules that agree stand on: lines before fields, each once."""
    winner = choice.winner
    cited = [*_support(winner, view), *winner.citations]
    cited += [citation for each in choice.agreeing for citation in each.citations]
    own = cited[: len(winner.citations) + 1]
    if continued := _continued(own[0] if own else None, view):
        own.append(continued)
        cited.append(continued)
    if winner.trust is Trust.EXIT and not any(citation.line for citation in cited):
        cited += _last_words(view)
    ordered = sorted(dict.fromkeys(cited), key=lambda citation: (citation not in own, citation.line == 0))
    return tuple(ordered[:MOST_CITED])


def _support(winner: Found, view: View) -> list[Citation]:
    """Return the line that says in words what a rule knows from facts alone; none where its fact's own line says as much."""
    if winner.groups is not None or winner.trust is Trust.EXIT:
        return []
    values = [citation.text for citation in winner.citations if not citation.line]
    if winner.place >= 0:
        at = view.lines[winner.place]
        near = [
            line for line in view.lines if line.stream == at.stream and abs(line.number - at.number) <= _SUPPORT_LINES
        ]
        if told := [line for line in near if _PROPERTY.match(at.text) and _TELLS.search(line.text)]:
            near = [] if at in told else [min(told, key=lambda line: abs(line.number - at.number))]
        else:
            near = [line for line in near if loudness(line)[:2] > loudness(at)[:2]]
    else:
        near = [line for line in view.lines if any(value in line.text for value in values)] or list(view.lines)
        near = [line for line in near if _TELLS.search(line.text)][:1] or near
    best = max(near, key=loudness, default=None)
    return [] if best is None else [Citation(best.stream, best.number, clipped(best.raw, values[0] if values else ""))]


def _continued(citation: Citation | None, view: View) -> Citation | None:
    """Return the line after a cited one that only announces it: ``CMake Error at x.txt:3 (find_package):``."""
    if citation is None or not citation.line or not _ANNOUNCES.search(citation.text):
        return None
    after = (line for line in view.lines if line.stream == citation.stream and line.number > citation.line)
    line = next(after, None)
    if line is None or line.number > citation.line + 2:
        return None
    return Citation(line.stream, line.number, clipped(line.raw, ""))


def _last_words(view: View) -> list[Citation]:
    """Return the error line that stands beside an exit status or a signal, which alone says little; none where none does."""
    said = max((line for line in view.lines if line.weight >= Weight.ERROR), key=loudness, default=None)
    return [] if said is None else [Citation(said.stream, said.number, clipped(said.raw, ""))]


def loudness(line: Line) -> tuple[int, bool, int, int]:
    """Return what orders lines by how much they say about what went wrong: the largest says most."""
    return (line.weight, names_a_type(line.text) is not None, line.depth, line.number)


def _wait(view: View, now: float | None) -> tuple[float | None, float | None]:
    from rerail.rules.wait_hints import (
        read_wait_hint,
    )  # as heavy as the whole engine, and a failure without text has no use for it

    texts: dict[str, list[str]] = {}
    for line in view.lines[-_HINT_LINES:]:
        if line.weight > Weight.WENT_ON:
            texts.setdefault(line.stream, []).append(line.text)
    if not texts and not view.headers:
        return None, None
    hint = read_wait_hint(dict(view.headers), ["\n".join(lines) for lines in texts.values()], now=now)
    return (None, None) if hint is None else (hint.wait_s, hint.resets_at)


def _summary(winner: Found, cited: tuple[Citation, ...]) -> str:
    text = winner.rule.summary
    if text:
        for index, group in enumerate(winner.groups or ()):
            text = text.replace(f"{{{index}}}", group or "")
    else:
        text = cited[0].text if cited else winner.rule.slug
    return printable(text)


def _unnamed(evidence: Evidence, view: View) -> str:
    if view.succeeded:
        return "nothing shows that it failed"
    said = max(view.lines, key=loudness, default=None)
    if said is not None:
        return printable(said.raw)
    return f"exit status {evidence.exit_code}, nothing said" if evidence.exit_code is not None else "nothing said"


def printable(text: str) -> str:
    """Return *text* as one line for people: no control or direction characters, blanks joined, clipped."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * SUMMARY_CHARS]).split())
    return line if len(line) <= SUMMARY_CHARS else line[: SUMMARY_CHARS - 1] + "…"
