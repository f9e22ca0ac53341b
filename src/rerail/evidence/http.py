"""An HTTP response made `Evidence`."""

from __future__ import annotations

from rerail.evidence import notes
from rerail.evidence.clip import in_order
from rerail.evidence.command import command_of
from rerail.evidence.fields import distinct_codes
from rerail.evidence.foreign import first, read
from rerail.evidence.messages import body_parts, joined_messages
from rerail.evidence.model import Evidence, Source
from rerail.evidence.redact import redact_headers
from rerail.evidence.response_facts import facts_of_response
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rerail.evidence.messages import Body


def from_response(
    status: int | None,
    headers: Mapping[str, object] | Iterable[tuple[object, object]] = (),
    body: Body = None,
    *,
    url: str = "",
    method: str = "",
) -> Evidence:
    """Return the evidence that a response is.

    Args:
        status: Its status; None when none came.
        headers: Its headers, of which an allow-list is kept.
        body: What was read of its body: raw, or JSON already parsed.
        url: What was asked for; with *method* it becomes the command, ``("GET", "https://...")``.
        method: How it was asked for.
    """
    stream, facts = body_parts(body, is_error=status is None or status >= 400)
    return Evidence(
        Source.HTTP,
        command=command_of([part for part in (method.upper(), url) if part]),
        http_status=status,
        headers=redact_headers(headers),
        codes=distinct_codes(facts.codes),
        streams=in_order(message=joined_messages((), facts.messages), body=stream),
    )


def from_response_object(response: object) -> Evidence:
    """Return the evidence that a response object of any HTTP library is; nothing is fetched and no property is run."""
    facts = facts_of_response(response)
    request = first(response, ("request", "_request", "request_info"))
    url = first(response, ("url", "_url")) or read(request, "url") or ""
    method = first(response, ("method",)) or read(request, "method") or ""
    evidence = from_response(facts.status, facts.headers, facts.body, url=str(url), method=str(method))
    return evidence if facts.body is not None else evidence._replace(notes=(notes.BODY_UNREAD,))
