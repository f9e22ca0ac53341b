"""Plain text from terminal text, and text that is safe to show."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.evidence.ansi import printable, strip

ESC = "\x1b"

TERMINAL_PIECES = st.sampled_from(
    [
        *(ESC, ESC + "\\", "[", "]", "P", "31m", "K", "2K", "0;t", "\x07", "\x9b", "\x9d", "\x90"),
        *("\r", "\n", "\b", "\x0b", "\t", "a", "bc", " ", "é"),
    ]
)
TERMINAL_TEXT = st.lists(TERMINAL_PIECES).map("".join) | st.text()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31merror\x1b[0m: no", "error: no"),
        ("\x1b[38;5;196mred\x1b[m", "red"),
        ("\x1b[1;31merror\x1b[0m[E0382]", "error[E0382]"),
        ("\x1b]0;window title\x07text", "text"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2;0;0;0\x1b\\after", "after"),
        ("\x1b_Gf=24;AAAA\x1b\\after", "after"),
        ("\x1b(Bplain\x1b)0", "plain"),
        ("\x1b7\x1b8\x1bM\x1b=", ""),
        ("\x9b31mred\x9b0m", "red"),
        ("a\x1b", "a"),
        ("a\x1b[", "a"),
        ("a\x1b[31", "a"),
        ("bell\x07 null\x00 delete\x7f next\x85", "bell null delete next"),
        ("tab\tand\nnewline stay", "tab\tand\nnewline stay"),
        ("word\x1b[1Cword", "word word"),
    ],
)
def test_escape_sequences_and_controls_go_and_the_text_stays(raw: str, shown: str) -> None:
    assert strip(raw) == shown


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\r\r\nb", "a\nb"),
        ("  1%\r 50%\r100%, done.\n", "100%, done.\n"),
        ("working...\r\x1b[Kdone", "done"),
        ("working...\x1b[2K\rdone", "done"),
        ("working...\x1b[1Gdone\x1b[K", "done"),
        ("abcdef\rXY", "XYcdef"),
        ("spin |\b/\b-\b done", "spin  done"),
        ("_\bx_\by", "xy"),
        ("kept\r\n", "kept\n"),
        ("kept\r", "kept"),
        ("first\n50%\r99%\nlast", "first\n99%\nlast"),
    ],
)
def test_a_rewritten_line_is_what_a_terminal_shows_at_its_end(raw: str, shown: str) -> None:
    assert strip(raw) == shown


def test_an_unterminated_string_sequence_does_not_swallow_the_failure() -> None:
    assert strip("\x1b]0;no end\nfatal: bad revision") == "0;no end\nfatal: bad revision"
    assert "fatal: bad revision" in strip("\x1b]0;fatal: bad revision")


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert strip("caf\udce9 \ud83d") == "caf\ufffd \ufffd"


@given(TERMINAL_TEXT)
def test_nothing_but_newline_and_tab_is_left_of_the_control_characters(raw: str) -> None:
    left = {character for character in strip(raw) if unicodedata.category(character) in ("Cc", "Cs")}
    assert left <= {"\n", "\t"}


@given(TERMINAL_TEXT)
def test_line_numbers_stay_true(raw: str) -> None:
    assert strip(raw).count("\n") == raw.count("\n")


@given(TERMINAL_TEXT)
def test_stripping_twice_changes_nothing(raw: str) -> None:
    assert strip(strip(raw)) == strip(raw)


@pytest.mark.parametrize(
    "hostile",
    [
        ESC * 1_000_000,
        "\x1b]" * 500_000,
        "\x1b]" + "a" * 1_000_000,
        "\x1b[" + "1;" * 500_000,
        "\x9b" * 1_000_000,
        "x\r" * 500_000,
        "x\b" * 500_000,
        "a" * 500_000 + "\b" * 500_000,
        "a" * 100_000 + "\x1b[2Kx" * 180_000,
        "\x1bP\x1b\\" * 250_000,
        "\r" * 1_000_000,
    ],
    ids=["esc", "osc", "open-osc", "csi", "c1", "returns", "backspaces", "far-back", "erasures", "dcs", "only-returns"],
)
def test_a_megabyte_of_hostile_codes_takes_linear_time(hostile: str) -> None:
    began_s = time.process_time()
    strip(hostile)
    assert time.process_time() - began_s < 5, "linear work takes well under a second; quadratic work takes minutes"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain text", "plain text"),
        ("café 日本 ✓", "café 日本 ✓"),
        ("a\nb\rc\td", r"a\nb\rc\td"),
        ("\x1b[2J", r"\x1b[2J"),
        ("nul\x00", r"nul\x00"),
        ("\x9b31m", r"\x9b31m"),
        ("user\u202egnp.exe", r"user\u202egnp.exe"),
        ("\u2066isolate\u2069", r"\u2066isolate\u2069"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("line\u2028paragraph\u2029", r"line\u2028paragraph\u2029"),
        ("lone \ud800", r"lone \ud800"),
        ("tag \U000e0041", r"tag \U000e0041"),
        ("filler \u3164", r"filler \u3164"),
    ],
)
def test_what_could_forge_output_becomes_a_visible_escape(raw: str, shown: str) -> None:
    assert printable(raw) == shown


@given(st.text() | TERMINAL_TEXT)
def test_printable_text_is_one_line_without_invisible_characters(raw: str) -> None:
    shown = printable(raw)
    assert len(shown.splitlines()) <= 1
    assert not {unicodedata.category(character) for character in shown} & {"Cc", "Cs", "Zl", "Zp"}
    assert not {unicodedata.bidirectional(character) for character in shown} & {
        "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN",
    }  # fmt: skip
    shown.encode("utf-8")


@given(st.text())
def test_showing_twice_changes_nothing(raw: str) -> None:
    assert printable(printable(raw)) == printable(raw)
