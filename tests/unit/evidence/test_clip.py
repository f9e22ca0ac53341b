"""Raw output as a stream: decoded, redacted, capped, with true line numbers."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.evidence.clip import Caps, clip_line, clip_stream, stream_from_parts
from rerail.evidence.model import Segment, Stream, StreamName
from rerail.process.capture import Capture, CaptureCaps

ERR = StreamName.STDERR
SMALL = Caps(head_chars=40, tail_chars=120, line_chars=60)
WORDS = st.text(alphabet="abc é:1", max_size=30)
LINES = st.lists(WORDS, max_size=60)


def captured(raw: bytes, *, head_bytes: int, tail_bytes: int) -> Stream:
    """Return the stream of *raw* as the process runner hands it over."""
    capture = Capture(CaptureCaps(head_bytes=head_bytes, tail_bytes=tail_bytes))
    capture.feed(raw)
    kept = capture.captured()
    return stream_from_parts(
        ERR,
        kept.head,
        kept.tail,
        tail_first_line=kept.tail_first_line,
        total_lines=kept.total_lines,
        total_bytes=kept.total_bytes,
    )


def numbered(stream: Stream) -> dict[int, str]:
    return dict(stream.lines())


@pytest.mark.parametrize(
    ("data", "lines", "total_lines"),
    [
        (b"", [], 0),
        (b"a", ["a"], 1),
        (b"a\n", ["a"], 1),
        (b"a\nb", ["a", "b"], 2),
        (b"\n", [""], 1),
        (b"a\n\n", ["a", ""], 2),
        (b"a\r\nb\r\n", ["a", "b"], 2),
    ],
)
def test_lines_are_counted_from_one_and_a_last_newline_begins_no_line(
    data: bytes, lines: list[str], total_lines: int
) -> None:
    stream = clip_stream(ERR, data)
    assert list(stream.lines()) == list(enumerate(lines, start=1))
    assert stream.total_lines == total_lines
    assert stream.total_bytes == len(data)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("caf\u00e9".encode(), "caf\u00e9"),
        (b"caf\xe9 \xff\xfe!", "caf\ufffd \ufffd\ufffd!"),
        (b"nul\x00 byte", "nul byte"),
        (b"\xef\xbb\xbffatal: bad", "fatal: bad"),
        ("fatal: bad\n".encode("utf-16"), "fatal: bad"),
        ("fatal: bad\n".encode("utf-16-le"), "fatal: bad"),
        ("fatal: bad\n".encode("utf-16-be"), "fatal: bad"),
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"a\x00", "a"),
        (bytes(range(128, 256)), None),
    ],
)
def test_any_bytes_are_decoded(data: bytes, text: str | None) -> None:
    stream = clip_stream(ERR, data)
    assert text is None or stream.text == text


def test_a_secret_is_gone_and_the_size_is_that_of_the_raw_output() -> None:
    stream = clip_stream(ERR, "password=hunter2\n")
    assert stream.text == "password=[redacted:password]"
    assert stream.total_bytes == 17


def test_text_with_half_a_character_becomes_text_that_can_be_stored() -> None:
    stream = clip_stream(ERR, "bad \udcff name")
    assert stream.text.encode() == "bad \ufffd name".encode()


def test_the_head_and_a_larger_tail_are_kept_with_true_numbers() -> None:
    lines = [f"line {number}" for number in range(1, 101)]
    stream = clip_stream(ERR, "\n".join(lines), caps=SMALL)
    assert [segment.first_line for segment in stream.segments] == [1, 87]
    assert stream.segments[0].text.split("\n") == lines[:5]
    assert stream.segments[1].text.split("\n") == lines[86:]
    assert stream.total_lines == 100


def test_a_very_long_line_loses_its_middle_visibly() -> None:
    line = "a" * 5000 + "needle" + "b" * 5000
    stream = clip_stream(ERR, f"first\n{line}\nlast")
    first, clipped, last = stream.text.split("\n")
    assert (first, last) == ("first", "last")
    assert clipped.startswith("aaaa")
    assert clipped.endswith("bbbb")
    assert "characters clipped" in clipped
    assert len(clipped) <= Caps().line_chars


@given(st.text(max_size=300), st.integers(1, 200))
def test_a_clipped_line_fits_and_clipping_it_again_changes_nothing(line: str, limit: int) -> None:
    clipped = clip_line(line, max(limit, 60))
    assert len(clipped) <= max(limit, 60)
    assert clip_line(clipped, max(limit, 60)) == clipped


@given(LINES, st.booleans())
def test_every_kept_line_is_the_line_of_that_number(lines: list[str], ends: bool) -> None:
    raw = "\n".join(lines) + ("\n" if ends else "")
    original = raw.split("\n")
    stream = clip_stream(ERR, raw, caps=SMALL)
    for number, text in stream.lines():
        assert text == original[number - 1]
    assert stream.total_lines == raw.count("\n") + (not raw.endswith("\n") if raw else 0)
    if stream.segments and raw.strip("\n"):
        assert max(numbered(stream)) == stream.total_lines


@given(
    st.lists(st.text(alphabet="abé ", min_size=1, max_size=40), min_size=1, max_size=80),
    st.integers(0, 200),
    st.integers(1, 300),
)
def test_output_captured_without_its_middle_keeps_true_numbers(lines: list[str], head: int, tail: int) -> None:
    raw = ("\n".join(lines) + "\n").encode()
    stream = captured(raw, head_bytes=head, tail_bytes=tail)
    assert stream.total_lines == len(lines)
    assert stream.total_bytes == len(raw)
    for number, text in stream.lines():
        # A line that the cut went through is kept in part, or not at all.
        assert lines[number - 1].startswith(text.rstrip("\ufffd")) or lines[number - 1].endswith(text.lstrip("\ufffd"))


def test_what_is_left_of_a_line_torn_by_the_cut_may_hold_half_a_secret_and_goes() -> None:
    raw = b"x" * 20 + b"\n" + b"password=" + b"hunter2" * 4 + b"\nfatal: no\n"
    stream = captured(raw, head_bytes=21, tail_bytes=30)
    assert stream.segments == (Segment(1, "x" * 20), Segment(3, "fatal: no"))


def test_a_torn_private_key_leaves_nothing() -> None:
    key = "-----BEGIN PRIVATE KEY-----\n" + ("Q" * 64 + "\n") * 30 + "-----END PRIVATE KEY-----\n"
    raw = f"head\n{key}fatal: no\n".encode()
    stream = captured(raw, head_bytes=200, tail_bytes=900)
    assert "Q" * 16 not in stream.text
    assert numbered(stream)[34] == "fatal: no"


@pytest.mark.parametrize("tail_bytes", [300, 301, 302, 303])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_with_a_dropped_middle_is_read_on_both_sides(encoding: str, tail_bytes: int) -> None:
    raw = "".join(f"line {number}\n" for number in range(1, 201)).encode(encoding)
    lines = numbered(captured(raw, head_bytes=201, tail_bytes=tail_bytes))
    assert lines[1] == "line 1"
    assert all(lines[number] == f"line {number}" for number in range(188, 201))


def test_one_endless_line_keeps_both_ends() -> None:
    stream = clip_stream(ERR, b"start " + b"x" * 3_000_000 + b" end")
    assert stream.total_lines == 1
    assert stream.text.startswith("start ")
    assert stream.text.endswith(" end")
    assert len(stream.text) < 20_000


@pytest.mark.parametrize("secret_at", [0, 1_000_000 - 40, 2_999_000])
def test_a_secret_never_survives_in_a_large_output(secret_at: int) -> None:
    noise = b"x" * 79 + b"\n"
    raw = noise * 40_000
    raw = raw[:secret_at] + b"\npassword=hunter2hunter2\n" + raw[secret_at:]
    assert "hunter2" not in clip_stream(ERR, raw).text


@pytest.mark.parametrize(
    "data",
    [
        b"A" * 200_000_000,
        b"\x1b" * 1_000_000,
        b"token:" * 170_000,
        b"\n" * 5_000_000,
        b"\xff" * 1_000_000,
        b"password: a " * 85_000,
    ],
    ids=["200MB", "escapes", "keys", "newlines", "not-utf-8", "pairs"],
)
def test_large_and_hostile_output_is_clipped_in_time(data: bytes) -> None:
    began_s = time.process_time()
    stream = clip_stream(ERR, data)
    assert time.process_time() - began_s < 5, "takes well under a second each"
    assert len(stream.text) <= 300_000
    assert stream.total_bytes == len(data)
