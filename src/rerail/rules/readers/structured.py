"""Whether a stream says in data that something failed, whatever the exit status: JSON, or the head of an HTTP response."""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.plain_json import parse
from rerail.rules.readers.lazy import lazy
from rerail.rules.readers.unwrap import response_status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_MAX_CHARS = 1_000_000
_MAX_HEADERS = 64
_YES = ("ok", "success", "continue", "allow", "allowed")
"""Keys that say so when something failed or is not allowed: with false."""
_DECISIONS = ("permissionDecision", "permission", "decision", "behavior")
_DENIALS = frozenset({"deny", "denied", "block", "blocked", "ask"})
_ERROR_PAGE = lazy(r"(?i)<(?:title|h1)>\s?[45]\d\d\b")
_PAGE_HEAD = 12
"""Lines in which a page of a server or proxy says in its title or heading which error it is."""
_FAILED_WORDS = frozenset({"error", "failed", "failure"})


def response_head(lines: Sequence[str]) -> tuple[int, tuple[tuple[str, str], ...]] | None:
    """Return the status and headers of a response whose head stands first, as ``curl -i`` prints it; None where none does."""
    first = next((index for index, line in enumerate(lines) if line.strip()), None)
    status = None if first is None else response_status(lines[first])
    if first is None or status is None:
        return None
    headers: list[tuple[str, str]] = []
    for line in lines[first + 1 : first + 1 + _MAX_HEADERS]:
        name, colon, value = line.partition(":")
        if not colon or not name.replace("-", "").isalnum():
            break
        headers.append((name.lower(), value.strip()))
    return status, tuple(headers)


def says_failure(lines: Sequence[str]) -> bool:
    """Tell whether the stream is a failing HTTP response, or is (or ends in) JSON that states an error or a denial."""
    text = [line for line in lines if line.strip()]
    if not text:
        return False
    status = response_status(text[0])
    if status is not None:
        return status >= 400
    if text[0].lstrip()[:1] == "<" and any(_ERROR_PAGE.search(line) for line in text[:_PAGE_HEAD]):
        return True
    return any(_states_failure(document) for document in _documents(text))


def _documents(text: Sequence[str]) -> list[Any]:
    """Return the stream as one JSON document, or else its last line as one; what is no JSON is nothing."""
    whole = "\n".join(text)
    if whole[:1] not in "{[" and text[-1][:1] not in "{[":
        return []
    for candidate in (whole, text[-1]):
        if candidate[:1] in "{[" and len(candidate) <= _MAX_CHARS:
            try:
                return [parse(candidate)]
            except (ValueError, RecursionError):
                continue
    return []


def _states_failure(document: Any) -> bool:
    if isinstance(document, list):
        return any(_states_failure(item) for item in document[-3:] if isinstance(item, dict))
    if not isinstance(document, dict):
        return False
    if any(document.get(key) for key in ("error", "isError", "is_error", "errors")):
        return True
    if document.get("type") == "error" or any(document.get(key) is False for key in _YES):
        return True
    if str(document.get("status", "")).lower() in _FAILED_WORDS:
        return True
    if any(str(document.get(key, "")).lower() in _DENIALS for key in _DECISIONS):
        return True
    return any(
        _states_failure(document[key])
        for key in ("hookSpecificOutput", "result", "response")
        if isinstance(document.get(key), dict)
    )
