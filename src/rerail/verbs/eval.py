"""How good the rules in force are on a labelled corpus."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rerail.boundary import hints
from rerail.boundary.result import Diagnostic, Result
from rerail.boundary.slugs import ErrorSlug
from rerail.errors import UsageError
from rerail.paths import cache_dir, find_root
from rerail.quality.corpus import read_corpus
from rerail.quality.scores import Named, score
from rerail.recipes.read import load
from rerail.rules.engine import classify
from rerail.settings_file import packs_in_force

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rerail.quality.scores import ClassScore, Judged, Score
    from rerail.taxonomy import Taxonomy

AT_LEAST = ("accuracy", "macro_f1", "evidence", "retry_after")
AT_MOST = ("unsafe", "wrong")
FIGURES = (*AT_LEAST, *AT_MOST)
"""What a bound can be put on."""

_CORE_ALONE = ("core",)


class Bound(NamedTuple):
    """A figure that is asked for: a least one for a rate, a most one for a count."""

    figure: str
    value: float

    def miss(self, figures: Mapping[str, float | None]) -> str:
        """Say how a score misses it; ``""`` where it does not, or where the corpus says nothing about the figure."""
        got = figures[self.figure]
        if got is None:
            return ""
        if self.figure in AT_MOST:
            return f"{self.figure} is {got:g}, expected at most {self.value:g}" if got > self.value else ""
        return f"{self.figure} is {got:.4f}, expected at least {self.value:g}" if got < self.value else ""


def read_bounds(text: str) -> tuple[Bound, ...]:
    """Read ``accuracy=0.97,unsafe=0``.

    Raises:
        UsageError: Naming the figure that does not exist, or the number that is none.
    """
    return tuple(map(_bound, text.split(",")))


def _bound(text: str) -> Bound:
    name, _, number = text.partition("=")
    figure = name.strip().replace("-", "_")
    if figure not in FIGURES:
        raise UsageError(f"there is no figure {name.strip()[:60]!r}; there are {', '.join(FIGURES)}")
    try:
        bound = Bound(figure, float(number))
    except ValueError:
        raise UsageError(f"{figure}: expected a number, as in {figure}=1, got {number[:60]!r}") from None
    limit = float("inf") if figure in AT_MOST else 1.0
    if not 0 <= bound.value <= limit:
        raise UsageError(f"{figure}: expected a number from 0 to {limit:g}, got {number[:60]!r}")
    return bound


def evaluate(
    cwd: Path,
    text: str,
    where: str,
    *,
    packs: tuple[str, ...] | None = None,
    bounds: Sequence[Bound] = (),
    picture: Path | None = None,
) -> Result:
    """Score the rules in force at *cwd*.

    Args:
        cwd: Whose recipes and settings.
        text: The corpus; see `rerail.quality.corpus`.
        where: The corpus, as faults and the result should name it.
        packs: Class packs that are on; None for the project's. The core pack alone is scored against core labels.
        bounds: What the figures must reach for the result to be ok.
        picture: Where the confusion matrix is saved as SVG.

    Raises:
        CorpusError: The corpus has faults.
        UsageError: The picture cannot be saved.
    """
    root, made_again = find_root(cwd), cache_dir(os.environ)
    packs = packs or packs_in_force(root)
    # A label may be of a pack that is off: then the case is one that nothing names.
    every = load(root, cache_dir=made_again).taxonomy
    cases = read_corpus(text, where, {str(spec.name) for spec in every})
    loaded = load(root, packs=packs, cache_dir=made_again)
    now = time.time()
    scored = score(
        cases,
        lambda case: Named.by(classify(case.evidence, loaded.rules, now=now)),
        {str(spec.name) for spec in loaded.taxonomy},
        core=packs == _CORE_ALONE,
    )
    names = _ordered(scored, loaded.taxonomy)
    if picture is not None:
        _save(picture, scored, names, title=where)
    figures = _figures(scored)
    misses = [miss for bound in bounds if (miss := bound.miss(figures))]
    data = {
        "corpus": where,
        "packs": packs,
        "cases": len(scored.judged),
        **figures,
        "classes": [_class_data(name, scored) for name in names],
        "confusion": {name: scored.confusion[name] for name in names if name in scored.confusion},
        "wrong_cases": [_case_data(each) for each in scored.wrong],
        "cited_wrongly": [_case_data(each) for each in scored.judged if each.cites is False],
        "delays_misread": [_case_data(each) for each in scored.judged if each.reads_delay is False],
        "picture": None if picture is None else str(picture),
    }
    if not misses:
        return Result(True, "eval", _in_one_line(scored), data)
    return Result(
        ok=False,
        verb="eval",
        message=f"{where}: {'; '.join(misses)}",
        data=data,
        diagnostics=tuple(Diagnostic(miss, where) for miss in misses),
        hints=(hints.mend_wrong_cases(corpus=where),),
        error=ErrorSlug.BELOW_THRESHOLD,
    )


def picture_file(name: str, corpus: str) -> Path:
    """Return where a picture goes.

    Args:
        name: The file that was named.
        corpus: The corpus' own file, which must not be written over.

    Raises:
        UsageError: No picture can be saved there, or something that is none would be lost.
    """
    path = Path(name)
    if path.suffix.lower() != ".svg":
        raise UsageError(f"the picture is SVG: expected a file that ends in .svg, got {name!r}")
    if not path.parent.is_dir():
        raise UsageError(f"there is no directory {str(path.parent)!r} for the picture")
    if path.is_dir():
        raise UsageError(f"{name!r} is a directory: name a file in it for the picture")
    if path.exists() and Path(corpus).exists() and path.samefile(corpus):
        raise UsageError(f"{name!r} is the corpus: name another file for the picture")
    return path


def _save(picture: Path, scored: Score, names: Sequence[str], *, title: str) -> None:
    from rerail.quality.matrix_svg import draw

    unsafe = frozenset((each.truth, each.named.class_) for each in scored.unsafe)
    svg = draw(scored.confusion, names, title=Path(title).name, figures=_in_one_line(scored), unsafe=unsafe)
    try:
        picture.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the picture {str(picture)!r} cannot be saved: {error.strerror}") from None


def _ordered(scored: Score, taxonomy: Taxonomy) -> list[str]:
    """Return every class that is or was named, in the order of the taxonomy."""
    places = {str(spec.name): place for place, spec in enumerate(taxonomy)}
    names = {name for truth, row in scored.confusion.items() for name in (truth, *row)}
    return sorted(names, key=lambda name: (places.get(name, len(places)), name))


def _figures(scored: Score) -> dict[str, float | None]:
    return {
        "accuracy": scored.accuracy,
        "macro_f1": scored.macro_f1,
        "unsafe": len(scored.unsafe),
        "wrong": len(scored.wrong),
        "evidence": scored.evidence,
        "retry_after": scored.retry_after,
    }


def _in_one_line(scored: Score) -> str:
    return (
        f"{len(scored.judged)} cases: accuracy {scored.accuracy:.4f}, macro F1 {scored.macro_f1:.4f},"
        f" {len(scored.unsafe)} unsafe, {len(scored.wrong)} wrong"
    )


def _class_data(name: str, scored: Score) -> dict[str, object]:
    """Return the figures of a class; one that only was named, and never is, has a precision alone."""
    own: ClassScore | None = next((each for each in scored.classes if each.name == name), None)
    return {
        "class": name,
        "cases": own.cases if own else 0,
        "right": own.right if own else 0,
        "precision": own.precision if own else 0.0,
        "recall": own.recall if own else None,
        "f1": own.f1 if own else None,
    }


def _case_data(judged: Judged) -> dict[str, object]:
    case, named = judged.case, judged.named
    return {
        "id": case.id,
        "line": case.line,
        "truth": judged.truth,
        "given": named.class_,
        "reason": named.reason,
        "rule": named.rule,
        "unsafe": judged.is_unsafe,
        "cited": named.cited,
        "deciding": case.deciding,
        "stated_s": case.retry_after_s,
        "read_s": named.retry_after_s,
    }
