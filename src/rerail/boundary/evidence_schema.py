"""The JSON Schema of evidence as it is handed in.

What each field must be is checked by `rerail.evidence.payload`; a test holds the two together.
"""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}

EVIDENCE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "One failure. All fields are optional; at least one besides id must be there.",
    "properties": {
        "id": {"type": ["string", "integer"], "description": "Passed through; says nothing about the failure."},
        "command": {
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
            "description": "What ran.",
        },
        "exit_code": {"type": "integer", "description": "Its exit status."},
        "signal": {"type": ["string", "integer"], "description": "The signal that ended it: SIGKILL."},
        "stdout": {**_TEXT, "description": "Its output."},
        "stderr": {**_TEXT, "description": "Its other stream."},
        "message": {**_TEXT, "description": "An exception's text, or what somebody says went wrong."},
        "report": {
            **_TEXT,
            "description": "What a tool's own report says failed: a line that says what was checked, then one for each check.",
        },
        "http_status": {"type": "integer", "description": "The status of a response, 100 to 999."},
        "headers": {"type": ["object", "array"], "description": "Its headers."},
        "body": {"type": ["string", "object", "array"], "description": "Its body, raw or parsed."},
        "exception_type": {**_TEXT, "description": "The exception's class: openai.RateLimitError."},
        "tool": {**_TEXT, "description": "The tool that was called."},
        "tool_input": {"description": "What the tool was called with."},
        "cwd": {**_TEXT, "description": "Where it ran."},
        "duration_s": {"type": "number", "description": "How long it took, in seconds."},
    },
}
