"""What a validator's message complains about: the whole evidence read into complaints.

A message is a text with records in it (`records`), sentences (`phrases`), and lines that speak of one another: pydantic names the
place above its sentence, zod below it, jsonschema after an echo of the instance. Echoes of the input are cut out first, so that
nothing the input says is taken for the validator's word.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rerail.evidence.model import StreamName
from rerail.handlers.repair import phrases, records
from rerail.handlers.repair.literals import found_in
from rerail.handlers.repair.model import Complaint
from rerail.handlers.repair.places import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rerail.evidence.model import Evidence
    from rerail.handlers.repair.tree import Place

MAX_TEXT = 32 * 1024
"""Characters that are read of one text, from each of its ends half."""

MAX_COMPLAINTS = 200
_MAX_LINE = 2_000
_MAX_LINES = 2_000
_MAX_NESTED = 4
"""JSON within JSON within JSON."""

_PYDANTIC = re.compile(r"^  (?P<message>\S.*) [(\[]type=(?P<type>\w+)", re.ASCII)
_PYDANTIC_ECHO = re.compile(r"(?<=[(\[]type=)([\w.]+)[,;] (?:input_value|given)=.*", re.ASCII)
_JSONSCHEMA = re.compile(r"^On instance(?P<place>(?:\[[^\]\n]{1,200}\]){0,32}):$")
_JSONSCHEMA_BLOCK = "Failed validating "
_JSONSCHEMA_ECHO = "    "
_ZOD = re.compile(r"^\s*→ at (?P<place>\S+)$")
_ECHO = re.compile(r"\s*(?:received arguments|parameters|input):\s*$", re.IGNORECASE)


def read(evidence: Evidence) -> tuple[Complaint, ...]:
    """Return what the validator complains about, each thing once; what the unit printed counts when nothing else speaks."""
    own = [stream.text for stream in evidence.streams if stream.name is not StreamName.STDOUT]
    printed = [stream.text for stream in evidence.streams if stream.name is StreamName.STDOUT]
    return _distinct(_of_texts(own)) or _distinct(_of_texts(printed))


def read_text(text: str) -> tuple[Complaint, ...]:
    """Return what one message complains about."""
    return _distinct(_of_texts([text]))


def _of_texts(texts: Iterable[str], nested: int = _MAX_NESTED) -> Iterator[Complaint]:
    for text in texts:
        if len(text) > MAX_TEXT:
            text = text[: MAX_TEXT // 2] + "\n" + text[-MAX_TEXT // 2 :]
        text = "\n".join(_without_echoes(text.split("\n")[:_MAX_LINES]))
        prose, end = [], 0
        for start, stop, document in found_in(text):
            said = list(records.read(document))
            for each in said:
                if isinstance(each, Complaint):
                    yield each
                elif nested:
                    yield from _of_texts([each], nested - 1)
            if said:
                # What a record says is not read a second time as a sentence without a place.
                prose.append(text[end:start])
                end = stop
        yield from _of_lines(" ".join([*prose, text[end:]]).split("\n"))


def _without_echoes(lines: list[str]) -> Iterator[str]:
    """Yield the lines that are the validator's own words, without what they repeat of the input."""
    in_block = False
    for line in lines:
        if _ECHO.match(line):
            return
        # jsonschema shows the schema and the instance, indented, until the next error begins.
        if in_block and line.startswith(_JSONSCHEMA_ECHO):
            continue
        in_block = line.startswith(_JSONSCHEMA_BLOCK) or (in_block and (not line or line.startswith("On instance")))
        yield _PYDANTIC_ECHO.sub(r"\1", line)


def _of_lines(lines: list[str]) -> Iterator[Complaint]:
    above = sentence = ""
    lines = [line[:_MAX_LINE] for line in lines]
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if found := _PYDANTIC.match(line):
            yield from _of_pydantic(found, above)
        elif found := _JSONSCHEMA.match(line):
            yield from phrases.read(sentence, place_of(found["place"]))
        elif line and not line.startswith(_JSONSCHEMA_BLOCK):
            place = _ZOD.match(below)
            yield from phrases.read(line, place and place_of(place["place"]), after=below)
            sentence = line
        above = line


def _of_pydantic(found: re.Match[str], above: str) -> Iterator[Complaint]:
    # Without a place the line above is the header: the root itself is meant.
    is_header = "validation error" in above
    place: Place | None = () if is_header else place_of(above.replace(" -> ", "."))
    if place is not None and not above.startswith(" "):
        yield from records.of_pydantic([{"loc": place, "type": found["type"], "msg": found["message"]}])


def _distinct(complaints: Iterable[Complaint]) -> tuple[Complaint, ...]:
    """Keep each complaint once, the one that says most: a place from the root before a bare name, a place before none."""
    kept: dict[tuple[object, ...], Complaint] = {}
    for complaint in complaints:
        key = (complaint.kind, complaint.place, repr(complaint.received) if complaint.place is None else "")
        before = kept.setdefault(key, complaint)
        if _weight(before) < _weight(complaint):
            kept[key] = complaint
        if len(kept) >= MAX_COMPLAINTS:
            break
    named = {(each.kind, each.place[-1:]) for each in kept.values() if each.place and each.rooted}
    received = {(each.kind, repr(each.received)) for each in kept.values() if each.place is not None}
    return tuple(
        each
        for each in kept.values()
        if (each.kind, repr(each.received)) not in received or each.place is not None
        if each.rooted or not each.place or (each.kind, each.place[-1:]) not in named
    )


def _weight(complaint: Complaint) -> tuple[int, ...]:
    return (complaint.rooted, len(complaint.expected), len(complaint.allowed), len(complaint.suggested))
