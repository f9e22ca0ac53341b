"""What was said: messages and bodies as streams, with the codes in them."""

from __future__ import annotations

from rerail.evidence.clip import Caps, clip_stream
from rerail.evidence.json_facts import JsonFacts, dump, facts_of, facts_of_text
from rerail.evidence.model import Segment, Stream, StreamName
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Body = bytes | str | dict[str, object] | list[object] | None
    """A response body: raw, or JSON already parsed."""

MESSAGE_CAPS = Caps(head_chars=8 * 1024, tail_chars=24 * 1024, line_chars=4 * 1024)
"""For what is said rather than printed: one exception's text, a body's error message."""


def codes_in(stream: Stream | None) -> tuple[str, ...]:
    """Return the error codes of a stream that is JSON as a whole; of any other, none."""
    if stream is None or len(stream.segments) != 1:
        return ()
    text = stream.segments[0].text
    return facts_of_text(text).codes if text[:1] + text[-1:] in ("{}", "[]") else ()


def joined_messages(messages: Sequence[Stream], further: Sequence[str] = ()) -> Stream | None:
    """Return one message stream: what each of *messages* says, in order, then what *further* raw texts add; nothing twice."""
    if len(messages) == 1 and not further:
        return messages[0]
    texts = list(dict.fromkeys(message.text for message in messages if message.segments))
    for raw in further:
        text = clip_stream(StreamName.MESSAGE, raw, caps=MESSAGE_CAPS).text
        if not any(text in known for known in texts):
            texts.append(text)
    joined = "\n".join(texts)
    if not joined:
        return None
    size_bytes = len(joined.encode("utf-8"))
    return Stream(StreamName.MESSAGE, (Segment(1, joined),), joined.count("\n") + 1, size_bytes)


def body_parts(body: Body, *, is_error: bool) -> tuple[Stream | None, JsonFacts]:
    """Return a body as its stream, and the codes and messages in it.

    These are taken from a body that is JSON as a whole; anything else is left to the rules. *is_error* is as in `facts_of`.
    """
    if body is None:
        return None, JsonFacts()
    if isinstance(body, (dict, list)):
        return clip_stream(StreamName.BODY, dump(body)), facts_of(body, is_error=is_error)
    return clip_stream(StreamName.BODY, body), facts_of_text(body, is_error=is_error)
