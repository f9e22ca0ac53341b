"""Fills the made parts of written pages: what stands between ``<!-- made: NAME -->`` and ``<!-- /made -->``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import api_parts
import file_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PART = re.compile(r"(?<=<!-- made: )([^\n]+?)( -->\n).*?(?=<!-- /made -->)", re.DOTALL)


def filled(page: str) -> str:
    """Return a written page with its made parts as the tables have them now."""
    return _PART.sub(lambda match: match[1] + match[2] + "\n" + "\n".join(_part(match[1])) + "\n\n", page)


def _part(name: str) -> Iterator[str]:
    kind, _, rest = name.partition(" ")
    return PARTS[kind](*rest.split())


PARTS: dict[str, Callable[..., Iterator[str]]] = {
    "names": api_parts.names,
    "arguments": api_parts.arguments,
    "methods": api_parts.methods,
    "calls": api_parts.calls,
    "function": api_parts.function,
    "fields": api_parts.fields,
    "values": api_parts.values,
    "errors": api_parts.errors,
    "answers": api_parts.answers,
    "settings": file_parts.settings,
    "recipe-keys": file_parts.recipe_keys,
    "rule-keys": file_parts.rule_keys,
    "evidence": file_parts.evidence,
    "phase-names": file_parts.phase_names,
    "report-formats": file_parts.report_formats,
}
"""Every made part, by the first word of its name; the other words are its arguments."""
