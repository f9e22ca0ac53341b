"""Evidence: one failure, normalised, redacted, clipped and frozen, whatever it came from.

One normaliser per source (`from_exception`, `from_process`, ...), and what they share: plain text (`strip`), secrets out
(`redact`), caps with true line numbers (`clip_stream`), identity (`evidence_fingerprint`). No I/O, no clock, no randomness; the
standard library alone. What a failure means is for `rerail.rules`.
"""

from __future__ import annotations

from rerail.evidence.ansi import printable, strip
from rerail.evidence.clip import Caps, clip_stream, stream_from_parts
from rerail.evidence.model import Evidence, ExceptionFact, Link, Segment, Source, Stream, StreamName
from rerail.evidence.redact import redact, redact_headers
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rerail.evidence.exceptions import from_exception
    from rerail.evidence.fingerprint import evidence_fingerprint, input_fingerprint
    from rerail.evidence.hooks import from_hook_payload
    from rerail.evidence.http import from_response, from_response_object
    from rerail.evidence.mcp import from_mcp_result
    from rerail.evidence.payload import from_payload, to_payload
    from rerail.evidence.process import from_process
    from rerail.evidence.text import from_text

__all__ = [
    "Caps",
    "Evidence",
    "ExceptionFact",
    "Link",
    "Segment",
    "Source",
    "Stream",
    "StreamName",
    "clip_stream",
    "evidence_fingerprint",
    "from_exception",
    "from_hook_payload",
    "from_mcp_result",
    "from_payload",
    "from_process",
    "from_response",
    "from_response_object",
    "from_text",
    "input_fingerprint",
    "printable",
    "redact",
    "redact_headers",
    "stream_from_parts",
    "strip",
    "to_payload",
]

# PERF: a hook reads one source and pays for one normaliser; all of them cost 8 ms.
_MODULES = {
    "evidence_fingerprint": "fingerprint",
    "from_exception": "exceptions",
    "from_hook_payload": "hooks",
    "from_mcp_result": "mcp",
    "from_payload": "payload",
    "from_process": "process",
    "from_response": "http",
    "from_response_object": "http",
    "from_text": "text",
    "input_fingerprint": "fingerprint",
    "to_payload": "payload",
}


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # What import_module does, which takes a hook 0.5 ms to import.
    return getattr(__import__(f"{__name__}.{module}", fromlist=(name,)), name)
