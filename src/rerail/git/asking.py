"""A guide's question and commands, filled in from what the repository tells. Nothing is run, and nothing is written.

A fact that is not known is never guessed: a way that needs it is left out, and a guide whose question needs it is none.
"""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

import attrs

from rerail.git.facts import FACTS
from rerail.git.report import WayOut
from rerail.git.shell_words import pathspec, shell_word
from rerail.recipes import asks
from rerail.recipes.asks import Fact, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rerail.git.case import Case
    from rerail.recipes.asks import Template, Way
    from rerail.recipes.heals import HealRecipe

_MOST_VALUES = 50
"""Longer commands are not for copying; what they are about is in the finding."""
_SHOWN_VALUES = 5
_MOST_REPEATS = 5


@attrs.frozen
class Asked:
    """What a person is asked."""

    question: str
    ways: tuple[WayOut, ...]


def asked(recipe: HealRecipe, case: Case) -> Asked | None:
    """Return a guide's question and ways in a repository; None where its question needs a fact that is not known."""
    known = _Known(case)
    try:
        question = _sentence(asks.template(recipe.question), known)
    except _UnknownFactError:
        return None
    return Asked(question, tuple(filter(None, (_way(way, known) for way in recipe.ways))))


def facts_of(recipe: HealRecipe) -> frozenset[Fact]:
    """Return the facts that a guide takes."""
    words = (word for way in recipe.ways for command in way.commands for word in command)
    texts = (asks.template(recipe.question), *words)
    return frozenset(fact for pieces in texts for fact in asks.facts(pieces))


class _UnknownFactError(Exception):
    """A fact that cannot be told, or not be written."""


class _Known:
    """The facts of a case, each found out at most once, checked against its kind."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def values(self, fact: Fact) -> tuple[str, ...]:
        found = self._case.once(FACTS[fact])
        if not found or not all(_is_sayable(asks.kind(fact), value) for value in found):
            raise _UnknownFactError
        return found


def _is_sayable(kind: Kind, value: str) -> bool:
    """Whether a value can be written in a command as what it is: repositories and failures hold any bytes."""
    try:
        shell_word(value)
    except ValueError:
        return False
    return os.path.isabs(value) if kind is Kind.PLACE else bool(value) and (kind is Kind.PATHS or value[0] != "-")  # noqa: PTH117  text


def _sentence(pieces: Template, known: _Known) -> str:
    return "".join(_listed(known.values(piece)) if isinstance(piece, Fact) else piece for piece in pieces)


def _listed(values: tuple[str, ...]) -> str:
    shown = ", ".join(map(shell_word, values[:_SHOWN_VALUES]))
    more = len(values) - _SHOWN_VALUES
    return f"{shown} and {more} more" if more > 0 else shown


def _way(way: Way, known: _Known) -> WayOut | None:
    try:
        commands = tuple(itertools.chain.from_iterable(_commands(words, known) for words in way.commands))
    except _UnknownFactError:
        return None
    return WayOut(way.to, commands)


def _commands(words: tuple[Template, ...], known: _Known) -> tuple[str, ...]:
    """Return one command, or one for each value of the fact that it is repeated for."""
    used = dict.fromkeys(fact for pieces in words for fact in asks.facts(pieces))
    values = {fact: known.values(fact) for fact in used}
    repeated = next((fact for fact in used if asks.kind(fact) is not Kind.PATHS and len(values[fact]) > 1), None)
    rounds = [values] if repeated is None else [{**values, repeated: (value,)} for value in values[repeated]]
    if len(rounds) > _MOST_REPEATS or any(len(each) > _MOST_VALUES for each in rounds[0].values()):
        raise _UnknownFactError
    return tuple(" ".join(word for pieces in words for word in _words(pieces, each)) for each in rounds)


def _words(pieces: Template, values: Mapping[Fact, tuple[str, ...]]) -> tuple[str, ...]:
    first = pieces[0]
    if len(pieces) == 1 and isinstance(first, Fact) and asks.kind(first) is Kind.PATHS:
        return tuple(shell_word(pathspec(value)) for value in values[first])
    return (shell_word("".join(values[piece][0] if isinstance(piece, Fact) else piece for piece in pieces)),)
