"""Text as evidence."""

from __future__ import annotations

from rerail.evidence.model import Source, StreamName
from rerail.evidence.text import from_text


def test_text_is_a_message() -> None:
    evidence = from_text("line 1\nfatal: no\n", command="git push")
    assert evidence.source is Source.TEXT
    assert [(stream.name, list(stream.lines())) for stream in evidence.streams] == [
        (StreamName.MESSAGE, [(1, "line 1"), (2, "fatal: no")]),
    ]
    assert (evidence.command, evidence.tool) == (("git", "push"), "git")


def test_the_tool_that_is_named_wins_and_bytes_are_fine() -> None:
    evidence = from_text(b"no \xff", tool="Bash", command="git push")
    assert (evidence.tool, evidence.streams[0].text) == ("Bash", "no \ufffd")


def test_nothing_said_is_evidence_of_nothing() -> None:
    assert from_text("").streams == ()


def test_a_text_that_is_json_as_a_whole_gives_its_codes() -> None:
    assert from_text('{"type":"error","error":{"type":"api_error","message":"no"}}').codes == ("api_error",)
