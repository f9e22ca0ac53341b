"""Terminal text made plain: escape codes out, rewritten lines as a terminal would leave them; and text made safe to show.

`strip` is for reading: what it returns has no control character but newline and tab, and as many newlines as it was given, so
line numbers stay true. `printable` is for showing: one line that cannot forge another line, move the cursor or turn the reading
direction. Both take time linear in their input, whatever it is.
"""

from __future__ import annotations

from rerail.evidence.lazy import compiled

_CONTROL = compiled(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

# Possessive quantifiers and text that stops at the next ESC: no input makes these try twice. The text of a string sequence (OSC,
# DCS, SOS, PM, APC) goes with it only if it is terminated on its line: an unterminated one must not swallow the failure.
_STRING_TEXT = r"(?:[^\x07\x18\x1a\x1b\x9c\n]*+(?:\x07|\x1b\\|\x9c))?"
_ESCAPES = (
    rf"\x1b(?:\[[0-?]*+[ -/]*+[@-~]?|[\]PX^_]{_STRING_TEXT}|[ -/]*+[0-~]?)"
    rf"|\x9b[0-?]*+[ -/]*+[@-~]?|[\x90\x98\x9d-\x9f]{_STRING_TEXT}"
)

_ERASE_MARK = "\x0b"  # stands for "erase to the end of the line"; a vertical tab means nothing here
_ERASE_TO_END = r"\x1b\[0?K"
_ERASE_LINE = r"\x1b\[2K"
_TO_LINE_START = r"\x1b\[[01]?G"
_STEP_RIGHT = r"\x1b\[\d*+C"  # some programs write spaces this way
_CURSOR = r"(\r++|\x08++|\x0b)"
_SURROGATE = r"[\ud800-\udfff]"

_UNPRINTABLE = (
    r"[\x00-\x1f\x7f-\x9f"  # C0, DEL, C1
    r"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # invisible letters and marks
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"  # zero width, separators, bidi, fillers
    r"\ud800-\udfff\U000e0000-\U000e0fff]"  # lone surrogates, tags
)
_SHORT_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def strip(text: str) -> str:
    """Return *text* without escape sequences and control characters, except newlines and tabs.

    A line that was rewritten in place (carriage returns, backspaces, erasures) becomes what a terminal would show at its end;
    CRLF becomes LF, and a lone surrogate (half a character, or an undecodable byte) U+FFFD.
    """
    if not text.isascii():
        text = compiled(_SURROGATE).sub("\ufffd", text)
    if _CONTROL.search(text) is None:
        return text
    text = text.replace("\r\n", "\n").replace(_ERASE_MARK, "")
    if "\x1b" in text:
        text = compiled(_ERASE_TO_END).sub(_ERASE_MARK, text)
        text = compiled(_ERASE_LINE).sub("\r" + _ERASE_MARK, text)
        text = compiled(_TO_LINE_START).sub("\r", text)
        text = compiled(_STEP_RIGHT).sub(" ", text)
    text = compiled(_ESCAPES).sub("", text)
    if "\r" in text or "\b" in text:
        text = "\n".join(map(_rewritten, text.split("\n")))
    return _CONTROL.sub("", text)


def _rewritten(line: str) -> str:
    """Return what a terminal shows of *line*: later text lies over earlier text, from where the cursor was set."""
    if "\r" not in line and "\b" not in line:
        return line
    cells: list[str] = []
    at = 0
    for piece in compiled(_CURSOR).split(line):
        if piece.startswith("\r"):
            at = 0
        elif piece.startswith("\b"):
            at = max(at - len(piece), 0)
        elif piece == _ERASE_MARK:
            del cells[at:]
        else:
            # Other control characters take no cell.
            visible = _CONTROL.sub("", piece)
            cells[at : at + len(visible)] = visible
            at += len(visible)
    return "".join(cells)


def printable(text: str) -> str:
    r"""Return *text* as one line on which every character shows as itself.

    Control characters, line and paragraph separators, direction overrides, zero-width and filler characters and lone surrogates
    become visible escapes: ``\n``, ``\x1b``, ``\u202e``.
    """
    if text.isascii() and text.isprintable():
        return text
    # PERF: a table of the characters that occur; calling a function per match takes eight times as long.
    found = set(compiled(_UNPRINTABLE).findall(text))
    return text.translate({ord(character): _escape(character) for character in found}) if found else text


def _escape(character: str) -> str:
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
