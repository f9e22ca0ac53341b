"""What an HTTP response object says, of whatever library: status, headers, and the body if it was already read.

Known shapes (checked against httpx 0.28, httpx2 2.16, requests 2.34, urllib3 2.8, aiohttp 3.14, botocore 1.44): ``status_code``
or ``status``; ``headers``; the body, once read, as bytes in ``_content`` (httpx, requests) or ``_body`` (urllib3, aiohttp).
botocore's response is a dict with ``ResponseMetadata`` and ``Error``.
"""

from __future__ import annotations

from rerail.evidence.foreign import answer_of, class_values, first, mro_of, read
from rerail.evidence.json_facts import dump
from rerail.evidence.redact import redact_headers
from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

RESPONSE_NAMES = ("response", "resp", "_response")
_STATUS_NAMES = ("status_code", "status", "http_status", "code")
_BODY_NAMES = ("_content", "_body", "body", "content", "text", "data")


class ResponseFacts(NamedTuple):
    """The readable part of a response."""

    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: str | bytes | None = None


def facts_of_response(response: object) -> ResponseFacts:
    """Return what *response* says; nothing is fetched."""
    metadata = read(response, "ResponseMetadata") if type(response) is dict else None
    if type(metadata) is dict:
        error = read(response, "Error")
        return ResponseFacts(
            status_in(metadata.get("HTTPStatusCode"), lowest=100),
            headers_in(metadata.get("HTTPHeaders")),
            dump({"Error": error}) if error else None,
        )
    statuses = (status_in(read(response, name), lowest=100) for name in _STATUS_NAMES)
    return ResponseFacts(
        next((status for status in statuses if status is not None), None),
        headers_in(read(response, "headers")),
        body_in(first(response, _BODY_NAMES)),
    )


def status_in(value: object, *, lowest: int = 400) -> int | None:
    """Return *value* if it is an HTTP status from *lowest* to 599, also as an enumeration's member or three digits."""
    if isinstance(value, str) and len(value) == 3 and value.isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return int(value) if lowest <= value <= 599 else None


def headers_in(value: object) -> tuple[tuple[str, str], ...]:
    """Return the headers worth keeping of any mapping of headers; none when it cannot be read."""
    if not any("items" in class_values(cls) for cls in mro_of(type(value))):
        return ()
    headers: Any = value
    return answer_of(lambda: redact_headers(headers)) or ()


def body_in(value: object) -> str | bytes | None:
    """Return *value* as a body: text, bytes, or JSON made text again."""
    if isinstance(value, (str, bytes)):
        return value or None
    if isinstance(value, bytearray):
        return bytes(value) or None
    return dump(value) if isinstance(value, (dict, list)) and value else None
