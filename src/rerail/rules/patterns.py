"""What a pattern needs and what it can cost: the literals it cannot match without, and the faults that would let a text hang us.

Pure functions over the parse tree of `re`. Which patterns exist is the recipes' business; running them is the engine's.
"""

from __future__ import annotations

import re
from functools import lru_cache
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parse  # type: ignore[attr-defined]
from types import MappingProxyType

from rerail.light_typing import TYPE_CHECKING
from rerail.rules.compile import FLAGS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any

    _OP = tuple[Any, Any]
    Needs = tuple[tuple[str, ...], ...]

MIN_LITERAL = 3
"""Shortest fixed text, in characters, that can wake a rule."""

MAX_STEPS = 10_000
"""Most ways to place a pattern's gaps that one starting point may cost."""

_UNBOUNDED = 1_024
"""What an endless repeat counts for: the engine shows a pattern at most about that many characters at once."""

_FEW_PLACES, _SCAN = 16, 32
"""From how many places on an endless repeat is scanned again and again, and what each scan then counts for."""

_LETTERS = ((0x0400, 0x04FF), (0x3041, 0x9FFF), (0xAC00, 0xD7A3))
"""Cyrillic, kana and Chinese, Korean: scripts that a text is found in, lowered letter by letter or without case at all."""

_EVERY = frozenset(range(128)) | {-1}
"""All ASCII code points, and -1 for whatever lies beyond them."""
_CATEGORIES = {
    sre.CATEGORY_DIGIT: frozenset(range(48, 58)),
    sre.CATEGORY_SPACE: frozenset({9, 10, 11, 12, 13, 32}),
    sre.CATEGORY_WORD: frozenset({*range(48, 58), *range(65, 91), 95, *range(97, 123)}),
}
_NEGATED = {
    sre.CATEGORY_NOT_DIGIT: sre.CATEGORY_DIGIT,
    sre.CATEGORY_NOT_SPACE: sre.CATEGORY_SPACE,
    sre.CATEGORY_NOT_WORD: sre.CATEGORY_WORD,
}
_COMMON = frozenset(
    {
        "error",
        "errors",
        "warning",
        "warnings",
        "info",
        "note",
        "fail",
        "failed",
        "found",
        "failed to",
        "unable to",
        "cannot",
    }
)
_MOST_SETS = 3
"""Sets of texts that are looked for before a pattern is tried: the first finds most, and each further one less."""
_RARE = 12
"""Characters of a text from which on it hardly ever stands where its pattern does not match."""
_MOST_BESIDE = 12
"""Texts of a further set, which tells less the more it has."""
_MOST_TEXTS = 12
"""Texts that two choices side by side are written out as: more take longer to look for than they spare."""
_ENOUGH = 8
"""Characters of a text from which on it tells enough, and fewer texts are worth more than longer ones."""
_MOST_LETTERS = 8
"""Letters of a set that is written out."""
_NOTHING = frozenset({""})
_sound: dict[str, Needs] = {}
"""Patterns that are known to be without fault, with what they need."""

_REPEATS = {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}


def literals(pattern: str) -> tuple[str, ...]:
    """Return lower-case texts of which at least one is part of whatever *pattern* matches; ``()`` when none is certain.

    The texts are what makes it cheap to know that a pattern cannot match: `str.find` over the lowered text.

    Raises:
        re.error: It is not a regular expression.
    """
    return next(iter(needs(pattern)), ())


def needs(pattern: str) -> Needs:
    """Return sets of lower-case texts, the one that tells most first: whatever *pattern* matches has one text of each.

    Raises:
        re.error: It is not a regular expression.
    """
    known = _sound.get(pattern)
    if known is not None:
        return known
    needed: list[tuple[str, ...]] = []
    for texts in sorted(map(_fewest, _required(_parsed(pattern))), key=_worth, reverse=True):
        if needed and min(map(_telling, needed[0])) >= _RARE:
            break
        tells = not needed or (min(map(len, texts)) > MIN_LITERAL and len(texts) <= _MOST_BESIDE)
        if tells and not any(_follows(texts, told) for told in needed):
            needed.append(texts)
    return tuple(needed[:_MOST_SETS])


def fault(pattern: str) -> str | None:
    """Say, for people, why *pattern* cannot be used on hostile text; None when it can."""
    if pattern in _sound:
        return None
    try:
        parsed = _parsed(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is not a regular expression: {error}"
    try:
        steps = _steps(parsed, frozenset())
    except _RefusedError as refused:
        return str(refused)
    if steps > MAX_STEPS:
        return "has gaps that multiply: write .{0,80} instead of .* (or a set that ends at the next character, such as [^']*)"
    return None


def remember(pattern: str) -> None:
    """Keep what is known of a pattern that `fault` found none in, as long as the process lives: rules have few."""
    _sound[pattern] = needs(pattern)


def remembered() -> Mapping[str, Needs]:
    """Return what is kept: patterns without fault, with what each needs."""
    return MappingProxyType(_sound)


def believe(judged: Mapping[str, Needs]) -> None:
    """Take over what was kept in an earlier process of this version."""
    _sound.update(judged)


@lru_cache(maxsize=512)
def _parsed(pattern: str) -> list[_OP]:
    # Both questions are asked of every pattern, and parsing is most of the answer's cost.
    operations: list[_OP] = sre_parse.parse(pattern, FLAGS).data
    return operations


class _RefusedError(Exception):
    """The pattern has a shape that some text takes exponential or polynomial time over."""


def _required(ops: list[_OP]) -> list[frozenset[str]]:
    """Return sets of texts of each of which one is part of whatever a sequence matches."""
    found: list[frozenset[str]] = []
    run = _NOTHING
    for op, argument in [*_flat(ops), (None, None)]:
        texts = _texts(op, argument)
        longer = texts and _joined(run, texts)
        if longer:
            run = longer
            continue
        found.append(run)
        run = texts or _NOTHING
        if op is sre.BRANCH and not texts:
            found.append(_of_each(branch.data for branch in argument[1]))
        elif op in _REPEATS and argument[0] >= 1:
            found += _required(argument[2].data)
    return [texts for texts in found if texts and min(map(len, texts)) >= MIN_LITERAL]


def _flat(ops: list[_OP]) -> Iterator[_OP]:
    """Yield the elements of a sequence, with those of its groups in their places."""
    for op, argument in ops:
        if op is sre.SUBPATTERN:
            yield from _flat(argument[3].data)
        elif op is sre.ATOMIC_GROUP:
            yield from _flat(argument.data)
        else:
            yield op, argument


def _of_each(branches: Iterable[list[_OP]]) -> frozenset[str]:
    """Return the best texts of all branches together; none where a branch has none."""
    best = [max(_required(branch), key=_worth, default=frozenset[str]()) for branch in branches]
    return frozenset().union(*best) if all(best) else frozenset()


def _texts(op: Any, argument: Any) -> frozenset[str] | None:
    """Return all that an element can match, in lower case; None where that is not a few fixed texts."""
    if op is sre.LITERAL:
        is_plain = argument < 128 or any(first <= argument <= last for first, last in _LETTERS)
        return frozenset({chr(argument).lower()}) if is_plain else None
    if op is sre.IN:
        is_plain = len(argument) <= _MOST_LETTERS and all(kind is sre.LITERAL and code < 128 for kind, code in argument)
        return frozenset(chr(code).lower() for _, code in argument) if is_plain else None
    if op in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
        return _NOTHING
    if op is sre.BRANCH:
        branches = [_texts_of(branch.data) for branch in argument[1]]
        return frozenset().union(*(each for each in branches if each)) if all(branches) else None
    if op in _REPEATS and argument[1] == 1:
        once = _texts_of(argument[2].data)
        return once and (once if argument[0] else once | _NOTHING)
    return None


def _texts_of(ops: list[_OP]) -> frozenset[str] | None:
    whole: frozenset[str] | None = _NOTHING
    for op, argument in _flat(ops):
        texts = _texts(op, argument)
        whole = texts and whole and _joined(whole, texts)
    return whole


def _joined(starts: frozenset[str], ends: frozenset[str]) -> frozenset[str] | None:
    """Return every start with every end; None where the starts tell enough without, or a few would become many."""
    if len(ends) > 1 and (
        min(map(_telling, starts)) >= _ENOUGH or (len(starts) > 1 and len(starts) * len(ends) > _MOST_TEXTS)
    ):
        return None
    return frozenset({start + end for start in starts for end in ends})


def _fewest(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts without those that have another in them, which is there when they are."""
    kept: list[str] = []
    for text in sorted(texts, key=lambda each: (len(each), each)):
        if not any(other in text for other in kept):
            kept.append(text)
    return tuple(sorted(kept))


def _follows(texts: Iterable[str], told: Iterable[str]) -> bool:
    """Tell whether one of *texts* stands wherever one of *told* does."""
    return all(any(text in longer for text in texts) for longer in told)


def _worth(texts: Collection[str]) -> tuple[int, int, int, tuple[str, ...]]:
    """Return what orders sets of texts by how much they tell for what it costs to look for them."""
    least = min(map(_telling, texts))
    return min(least, _ENOUGH), -len(texts), least, tuple(sorted(texts))


def _telling(text: str) -> int:
    """Return how much the presence of a text says: next to nothing for words that stand in most failures."""
    return 1 if text.strip(" :") in _COMMON else len(text)


def _steps(ops: list[_OP], after: frozenset[int], before: frozenset[int] = frozenset()) -> int:
    """Return how many ways the gaps of a sequence can be placed from one start.

    Args:
        ops: The parsed sequence.
        after: Characters that may follow it; empty when that is not known.
        before: Characters that an endless repeat right before it can give up to it.
    """
    total = 1
    for index, (op, argument) in enumerate(ops):
        following = _first(ops[index + 1 :]) or after
        if op is sre.GROUPREF or op is sre.GROUPREF_EXISTS:
            raise _RefusedError("refers back to a group; name what may follow instead")
        if op is sre.SUBPATTERN:
            total *= _steps(argument[3].data, following, before)
        elif op is sre.ATOMIC_GROUP:
            total *= _steps(argument.data, following, before)
        elif op is sre.BRANCH:
            total *= sum(_steps(branch.data, following, before) for branch in argument[1])
        elif op is sre.ASSERT or op is sre.ASSERT_NOT:
            total *= _steps(argument[1].data, frozenset())
        elif op in _REPEATS:
            steps = _repeat_steps(argument, before, following)
            if total > _FEW_PLACES and argument[1] is sre.MAXREPEAT:
                # It ends in one way, but each place that gaps before it leave is a scan of its own.
                steps = max(steps, _SCAN)
            total *= steps
        before = _given_up(op, argument, before)
    return total


def _repeat_steps(argument: tuple[int, Any, Any], previous: frozenset[int], following: frozenset[int]) -> int:
    low, high, body = argument
    endless = high is sre.MAXREPEAT or high > _UNBOUNDED
    if len(body.data) == 1 and (chars := _chars(body.data[0])):
        if endless and previous & chars:
            raise _RefusedError("has two endless repeats side by side that can share characters; bound one of them")
        # A repeat that must stop where the next character begins has one way to end, however long it is.
        if following and not following & chars:
            return 1
        return _UNBOUNDED if endless else max(1, int(high) - int(low))
    if not endless:
        times = max(1, int(high))
        steps: int = _steps(body.data, following) ** times * max(1, times - int(low))
        return steps
    if any(op in _REPEATS or op is sre.BRANCH for op, _ in _walk(body.data)):
        raise _RefusedError("repeats a group that itself repeats or chooses; some text would take for ever")
    return _UNBOUNDED


def _walk(ops: list[_OP]) -> list[_OP]:
    found: list[_OP] = []
    for op, argument in ops:
        found.append((op, argument))
        if op is sre.SUBPATTERN:
            found += _walk(argument[3].data)
        elif op is sre.ATOMIC_GROUP:
            found += _walk(argument.data)
        elif op in _REPEATS:
            found += _walk(argument[2].data)
        elif op is sre.BRANCH:
            found += [each for branch in argument[1] for each in _walk(branch.data)]
    return found


def _given_up(op: Any, argument: Any, before: frozenset[int]) -> frozenset[int]:
    """Return what an endless repeat that ends right after this element can give up to what follows it."""
    if op is sre.AT:
        return before
    if op is sre.SUBPATTERN:
        inner = argument[3].data
        if not inner:
            return before
        last, last_argument = inner[-1]
        return _given_up(last, last_argument, before if len(inner) == 1 else frozenset())
    if op not in _REPEATS:
        return frozenset()
    low, high, body = argument
    if high is sre.MAXREPEAT and len(body.data) == 1:
        return _chars(body.data[0]) | (before if low == 0 else frozenset())
    return before if low == 0 else frozenset()


def _chars(element: _OP) -> frozenset[int]:
    """Return the characters that a one-character element matches; empty when it is not one."""
    op, argument = element
    if op is sre.LITERAL:
        return _both_cases(argument)
    if op is sre.NOT_LITERAL:
        return _EVERY - {argument}
    if op is sre.ANY:
        return _EVERY - {10}
    if op is sre.SUBPATTERN and len(argument[3].data) == 1:
        return _chars(argument[3].data[0])
    if op is not sre.IN:
        return frozenset()
    chars: set[int] = set()
    for kind, value in argument:
        if kind is sre.LITERAL:
            chars |= _both_cases(value)
        elif kind is sre.RANGE:
            chars |= {min(code, 128) if code < 128 else -1 for code in range(value[0], min(value[1], 128) + 1)}
        elif kind is sre.CATEGORY:
            chars |= _CATEGORIES.get(value) or _EVERY - _CATEGORIES[_NEGATED[value]]
    return frozenset(_EVERY - chars) if argument[0][0] is sre.NEGATE else frozenset(chars)


def _both_cases(code: int) -> frozenset[int]:
    # Whether a flag folds case is not known here; both cases is the careful reading.
    return frozenset({-1} if code > 127 else {ord(chr(code).lower()), ord(chr(code).upper())})


def _first(ops: list[_OP]) -> frozenset[int]:
    """Return the characters a sequence can begin with; empty when it may match nothing or that is not certain."""
    for op, argument in ops:
        if op is sre.AT:
            continue
        if op is sre.SUBPATTERN:
            return _first(argument[3].data)
        if op is sre.BRANCH:
            firsts = [_first(branch.data) for branch in argument[1]]
            return frozenset().union(*firsts) if all(firsts) else frozenset()
        if op in _REPEATS:
            inner = _chars(argument[2].data[0]) if len(argument[2].data) == 1 else _first(argument[2].data)
            return inner if argument[0] >= 1 else frozenset()
        return _chars((op, argument))
    return frozenset()
