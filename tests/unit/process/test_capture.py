from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.process import Capture, CaptureCaps, Captured

CHUNKS = st.lists(
    st.lists(st.sampled_from([b"\n", b"a", b"\r", b"\x00", b"\xff"]), max_size=40).map(b"".join), max_size=20
)
CAPS = st.builds(CaptureCaps, head_bytes=st.integers(0, 30), tail_bytes=st.integers(0, 30))


def capture(chunks: list[bytes], caps: CaptureCaps) -> Captured:
    taking = Capture(caps)
    for chunk in chunks:
        taking.feed(chunk)
    return taking.captured()


@given(CHUNKS, CAPS)
def test_head_and_tail_are_the_ends_of_the_stream_however_it_was_cut(chunks: list[bytes], caps: CaptureCaps) -> None:
    whole = b"".join(chunks)

    got = capture(chunks, caps)

    assert got == capture([whole], caps)
    assert got.total_bytes == len(whole)
    if len(whole) <= caps.head_bytes + caps.tail_bytes:
        assert (got.head, got.tail, got.dropped_bytes) == (whole, b"", 0)
    else:
        assert got.head == whole[: caps.head_bytes]
        assert got.tail == whole[len(whole) - caps.tail_bytes :]
        assert got.dropped_bytes == len(whole) - len(got.head) - len(got.tail)


@given(CHUNKS, CAPS)
def test_a_line_that_begins_in_the_tail_has_its_true_number(chunks: list[bytes], caps: CaptureCaps) -> None:
    whole = b"".join(chunks)
    got = capture(chunks, caps)

    starts = [0, *(at + 1 for at, byte in enumerate(whole) if byte == ord("\n"))]
    tail_at = len(whole) - len(got.tail)
    first_in_tail = next((number for number, at in enumerate(starts, start=1) if at >= tail_at), None)

    assert got.total_lines == len([at for at in starts if at < len(whole)])
    assert got.tail_first_line == (first_in_tail or len(starts) + 1)


@given(CHUNKS, CAPS)
def test_no_more_is_held_than_the_caps_allow(chunks: list[bytes], caps: CaptureCaps) -> None:
    taking = Capture(caps)
    for chunk in chunks:
        taking.feed(chunk)
        assert taking.buffered_bytes <= caps.head_bytes + 2 * (caps.tail_bytes + 1)


def test_a_long_stream_of_single_bytes_holds_no_more_than_one_of_large_chunks() -> None:
    caps = CaptureCaps(head_bytes=1000, tail_bytes=3000)
    taking = Capture(caps)
    for _ in range(100_000):
        taking.feed(b"x")
    assert taking.buffered_bytes <= 1000 + 2 * 3001
    assert len(taking.captured().tail) == 3000


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        (b"", 0),
        (b"\n", 1),
        (b"a", 1),
        (b"a\n", 1),
        (b"a\nb", 2),
        (b"10%\r20%\r100%\n", 1),
        (b"a\r\nb\r\n", 2),
        (b"\n\n", 2),
        (b"\xff\x00", 1),
    ],
)
def test_newlines_and_a_last_line_without_one_are_lines(stream: bytes, lines: int) -> None:
    assert capture([stream], CaptureCaps()).total_lines == lines


def test_one_endless_line_has_no_line_that_begins_in_its_tail() -> None:
    got = capture([b"x" * 100], CaptureCaps(head_bytes=10, tail_bytes=20))
    assert (got.tail, got.tail_first_line, got.total_lines) == (b"x" * 20, 2, 1)


@pytest.mark.parametrize("caps", [{"head_bytes": -1}, {"tail_bytes": -1}])
def test_a_negative_cap_is_refused(caps: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be >= 0"):
        CaptureCaps(**caps)
