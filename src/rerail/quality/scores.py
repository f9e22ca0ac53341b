"""The figures of a classifier on a labelled corpus. Pure; the corpora are read by `rerail.quality.corpus`.

- right: the class is the label, or one of those that are as defensible; it then counts as the label
- unsafe: named ``provider``, the class that is retried blindly, and is not; or named ``git``, which is healed, and is worktree
- evidence: of the right cases that say which text decides, those in which a cited text and that one overlap
- retry after: of the cases that state a delay, those in which it was read to within a second
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import attrs

from rerail.taxonomy import FailureClass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from rerail.quality.corpus import Case
    from rerail.rules.model import Classification

DELAY_TOLERANCE_S = 1.0


@attrs.frozen
class Named:
    """What a classifier made of a case."""

    class_: str
    cited: tuple[str, ...] = ()
    retry_after_s: float | None = None
    reason: str = ""
    rule: str = ""
    """``""`` where nothing decided, or the classifier has no rules."""

    @classmethod
    def by(cls, classification: Classification) -> Named:
        """Return what a classification says."""
        return cls(
            class_=classification.class_,
            cited=tuple(cited.text for cited in classification.evidence),
            retry_after_s=classification.retry_after_s,
            reason=classification.reason,
            rule=classification.rule,
        )


@attrs.frozen
class Judged:
    """A case, what it was named, and whether that is right."""

    case: Case
    truth: str
    named: Named
    is_right: bool

    @property
    def is_unsafe(self) -> bool:
        """Whether what would be done about it could do harm."""
        if self.is_right:
            return False
        given = self.named.class_
        return given == FailureClass.PROVIDER or (given == FailureClass.GIT and self.truth == FailureClass.WORKTREE)

    @property
    def cites(self) -> bool | None:
        """Whether the deciding text is cited; None where the case does not say which it is, or is wrong anyhow."""
        if not self.is_right or not self.case.deciding or self.truth == FailureClass.UNCLASSIFIED:
            return None
        wanted = _squashed(self.case.deciding)
        return any(text and (wanted in text or text in wanted) for text in map(_squashed, self.named.cited))

    @property
    def reads_delay(self) -> bool | None:
        """Whether the stated delay was read; None where none is stated."""
        stated_s, read_s = self.case.retry_after_s, self.named.retry_after_s
        if stated_s is None:
            return None
        return read_s is not None and abs(read_s - stated_s) <= DELAY_TOLERANCE_S


@attrs.frozen
class ClassScore:
    """The figures of one class that occurs in a corpus."""

    name: str
    cases: int
    """Cases that are of this class."""
    right: int
    """Of those, the ones that were named so."""
    named: int
    """Cases that were named so, rightly or not."""

    @property
    def precision(self) -> float | None:
        """The share of what was named so that is; None where nothing was."""
        return self.right / self.named if self.named else None

    @property
    def recall(self) -> float:
        """The share of what is so that was named so."""
        return self.right / self.cases

    @property
    def f1(self) -> float:
        """The harmonic mean of both; 0 where nothing was right."""
        return 2 * self.right / (self.cases + self.named) if self.right else 0.0


@attrs.frozen
class Score:
    """The figures of a classifier on a corpus."""

    judged: tuple[Judged, ...]
    """Every case, in the order of the corpus."""
    classes: tuple[ClassScore, ...]
    """The classes that occur among the truths, in the order of their first case."""
    confusion: Mapping[str, Mapping[str, int]]
    """Truth -> what its cases were named -> how many. What is right counts as the truth."""

    @property
    def accuracy(self) -> float:
        """The share of the cases that are right."""
        return _rate(each.is_right for each in self.judged) or 0.0

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the classes that occur."""
        return sum(each.f1 for each in self.classes) / len(self.classes) if self.classes else 0.0

    @property
    def wrong(self) -> tuple[Judged, ...]:
        """The cases that were named wrongly, unsafe ones first."""
        return tuple(sorted((each for each in self.judged if not each.is_right), key=lambda each: not each.is_unsafe))

    @property
    def unsafe(self) -> tuple[Judged, ...]:
        """The cases whose wrong name could do harm."""
        return tuple(each for each in self.judged if each.is_unsafe)

    @property
    def evidence(self) -> float | None:
        """The share of the right cases that cite what decides; None where no case says what that is."""
        return _rate(each.cites for each in self.judged if each.cites is not None)

    @property
    def retry_after(self) -> float | None:
        """The share of the stated delays that were read; None where none is stated."""
        return _rate(each.reads_delay for each in self.judged if each.reads_delay is not None)


def score(cases: Iterable[Case], name: Callable[[Case], Named], classes: Collection[str], *, core: bool) -> Score:
    """Return what a classifier makes of a corpus.

    Args:
        cases: The corpus.
        name: The classifier.
        classes: The classes in force; see `Case.truth`.
        core: Whether only the core pack is on.
    """
    judged: list[Judged] = []
    confusion: dict[str, Counter[str]] = {}
    for case in cases:
        truth, named = case.truth(classes, core=core), name(case)
        is_right = named.class_ in (truth, *case.accept)
        judged.append(Judged(case, truth, named, is_right))
        confusion.setdefault(truth, Counter())[truth if is_right else named.class_] += 1
    given = sum(confusion.values(), Counter[str]())
    scores = tuple(ClassScore(truth, row.total(), row[truth], given[truth]) for truth, row in confusion.items())
    return Score(tuple(judged), scores, confusion)


def _rate(marks: Iterable[bool | None]) -> float | None:
    counted = list(marks)
    return sum(mark is True for mark in counted) / len(counted) if counted else None


def _squashed(text: str) -> str:
    return " ".join(text.split()).lower()
