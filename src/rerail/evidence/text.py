"""Text made `Evidence`: a message, a log, whatever somebody says went wrong."""

from __future__ import annotations

from rerail.evidence.clip import clip_stream, in_order
from rerail.evidence.command import command_of, program_of
from rerail.evidence.fields import distinct_codes, label
from rerail.evidence.messages import codes_in
from rerail.evidence.model import Evidence, Source, StreamName
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def from_text(text: str | bytes, *, tool: str = "", command: str | Sequence[str] = ()) -> Evidence:
    """Return the evidence that a text is.

    Args:
        text: What went wrong, in a line or many.
        tool: The tool that was called, if one was.
        command: What was run, if something was.
    """
    argv = command_of(command)
    message = clip_stream(StreamName.MESSAGE, text)
    return Evidence(
        Source.TEXT,
        command=argv,
        tool=label(tool) or program_of(argv),
        codes=distinct_codes(codes_in(message)),
        streams=in_order(message=message),
    )
