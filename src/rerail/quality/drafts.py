"""A draft of a rule for a cluster of failures that no rule names: TOML that a person completes.

What the failures say is there: a pattern, the tool, examples. What they mean is left empty, and a recipe with an empty class,
reason, why or source is refused: nothing here guesses. A draft is written by hand rather than by a library, for failure text is
hostile: every string in it is quoted here, and a comment never holds more than one line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from rerail.errors import EvidenceError
from rerail.evidence.ansi import printable
from rerail.evidence.clip import clip_line
from rerail.evidence.command import program_of
from rerail.evidence.payload import from_payload
from rerail.evidence.redact import redact_command
from rerail.quality.clusters import ANY, LINE_CHARS, MARK, MOST_WORDS, Cluster
from rerail.rules.compile import FLAGS
from rerail.rules.patterns import fault, literals
from rerail.rules.readers import view

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from rerail.evidence.model import Evidence
    from rerail.quality.clusters import Said

MOST_EXAMPLES = 3
_EXAMPLE_CHARS, _AROUND_LINES = 1_500, 4
_SLUG_CHARS, _SLUG_WORDS = 60, 6
_TOLD_EVENTS = 5
_TEMPLATE_CHARS = 100
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_QUOTES = "'\"`"
_WIDE = frozenset({"<time>", "<duration>", "<count>", "<pid>", "<place>", "<rate>", "<seed>"})
"""Marks of what may have blanks in it."""

_HEAD = """\
# Drafts of rules for failures that no rule names. A person says what each failure means: fill in class (rerail taxonomy lists
# them), reason (rerail explain CLASS), why and source, look at the pattern and the examples, and add to passes_by what looks
# like it and is something else. Delete what you do not want.
"""


@attrs.frozen
class Draft:
    """A rule that waits for a person."""

    slug: str
    pattern: str
    """For the line that says most; ``""`` where none could be made, or nothing was said."""
    toml: str
    """The ``[[rule]]`` table, with a comment that says where it comes from."""


def drafts(found: Iterable[Cluster], taken: Collection[str]) -> tuple[Draft, ...]:
    """Return a draft for each cluster.

    Args:
        found: The clusters, in order.
        taken: Slugs that other rules have.
    """
    used = set(taken)
    made: list[Draft] = []
    for cluster in found:
        slug = _unused(_slug(cluster), used)
        used.add(slug)
        made.append(_draft(cluster, slug))
    return tuple(made)


def document(made: Iterable[Draft]) -> str:
    """Return a recipe file with all drafts, as it is written down."""
    return "\n".join([_HEAD, *(draft.toml for draft in made)])


def _draft(cluster: Cluster, slug: str) -> Draft:
    pattern = _pattern(cluster)
    lines = [
        f"# {_origin(cluster)}",
        "[[rule]]",
        f"slug = {_quoted(slug)}",
        'class = ""',
        'reason = ""',
        'why = ""',
        'source = ""',
        *_matcher(cluster, pattern),
        "matches = [",
        *(f"  {_inline(example)}," for example in _examples(cluster, pattern)),
        "]",
        "passes_by = []",
    ]
    return Draft(slug, pattern, "\n".join(lines) + "\n")


def _origin(cluster: Cluster) -> str:
    """Say in one line what a draft comes from."""
    members = cluster.members
    count = f"{len(members)} failure{'s' if len(members) > 1 else ''}"
    events = sorted({each.gap.event for each in members if each.gap.event is not None}, reverse=True)
    told = ", ".join(map(str, events[:_TOLD_EVENTS])) + (", ..." if len(events) > _TOLD_EVENTS else "")
    place = f" ({'event' if len(events) == 1 else 'events'} {told})" if events else ""
    says = clip_line(cluster.template, _TEMPLATE_CHARS) if cluster.words else "nothing said"
    return printable(f"{count}{place}: {says}")


def _matcher(cluster: Cluster, pattern: str) -> Iterator[str]:
    """Yield the keys of what the failures have in common."""
    if cluster.tool:
        yield f"tool = {_quoted(cluster.tool)}"
    if cluster.exception:
        yield f"exception = {_quoted(cluster.exception)}"
    if cluster.words:
        # Where no pattern could be made the key is there, empty, and refused until a person writes one.
        yield f"text = {_quoted(pattern)}"
        return
    evidence = cluster.members[0].gap.evidence
    if evidence.codes:
        yield f"code = {_quoted(evidence.codes[0])}"
    if evidence.http_status is not None:
        yield f"status = {evidence.http_status}"
    if evidence.exit_code is not None:
        yield f"exit_code = {evidence.exit_code}"
    if evidence.signal:
        yield f"signal = {_quoted(evidence.signal)}"


# -- patterns


def _pattern(cluster: Cluster) -> str:
    """Return a pattern that matches the line of every member, as long as it can be; ``""`` where none does."""
    lines = [each.line for each in cluster.members]
    for length in range(len(cluster.words), 0, -1):
        pattern = _expression(cluster.words[:length], lines, whole=length == len(cluster.words))
        if fault(pattern) is None and literals(pattern):
            compiled = re.compile(pattern, FLAGS)
            if all(compiled.search(line) for line in lines):
                return pattern
    return ""


def _expression(words: tuple[str, ...], lines: list[str], *, whole: bool) -> str:
    start = r"^\s*" if any(line[:1].isspace() for line in lines) else "^"
    blank = r"\s+" if any(re.search(r"\s\s|[^\S ]", line.strip()) for line in lines) else " "
    is_cut = not whole or len(words) >= MOST_WORDS or any(len(line) >= LINE_CHARS for line in lines)
    end = "" if is_cut or any(line[-1:].isspace() for line in lines) else "$"
    return start + blank.join(map(_word, words)) + end


def _word(word: str) -> str:
    """Return the expression of one word of a template."""
    if word == ANY:
        return r"\S+"
    expression, at = "", 0
    for mark in MARK.finditer(word):
        expression += _escaped(word[at : mark.start()])
        before, after = word[mark.start() - 1 : mark.start()], word[mark.end() : mark.end() + 1]
        if mark[0] == "<value>" and before and before in _QUOTES and before == after:
            expression += f"[^{before}]+"
        elif mark[0] in _WIDE:
            expression += ".{1,40}"
        else:
            # What follows in the same word is part of what varies: a path's rest, a closing bracket.
            return expression + r"\S+"
        at = mark.end()
    return expression + _escaped(word[at:])


def _escaped(text: str) -> str:
    # re.escape also escapes blanks and much that needs it in verbose patterns alone; people read this.
    return re.sub(r"[\\.^$*+?{}\[\]|()]", r"\\\g<0>", text)


# -- examples


def _examples(cluster: Cluster, pattern: str) -> list[dict[str, object]]:
    """Return a few failures of a cluster as evidence JSON, each of which the pattern holds for."""
    found: dict[str, dict[str, object]] = {}
    for each in cluster.members:
        if len(found) == MOST_EXAMPLES:
            break
        found.setdefault(each.line, _example(each, pattern))
    return list(found.values())


def _example(each: Said, pattern: str) -> dict[str, object]:
    evidence = each.gap.evidence
    known: dict[str, object] = {}
    command = redact_command(evidence.command)
    if command and sum(map(len, command)) <= LINE_CHARS:
        known["command"] = list(command)
    if evidence.tool and ("command" not in known or evidence.tool != program_of(evidence.command)):
        known["tool"] = evidence.tool
    for name in ("exit_code", "signal", "http_status"):
        if (value := getattr(evidence, name)) is not None:
            known[name] = value
    if each.exception:
        known["exception_type"] = each.exception
    if not each.line:
        return known
    # The surroundings tell a reader what the line is; where they would not, or are too much, the line stands alone.
    for text in (_around(evidence, each), each.line):
        example = {**known, each.stream: text}
        if _shows(example, pattern):
            return example
    return {**known, "message": each.line}


def _around(evidence: Evidence, each: Said) -> str:
    stream = next(stream for stream in evidence.streams if stream.name == each.stream)
    if len(stream.text) <= _EXAMPLE_CHARS:
        return stream.text
    near = [text for number, text in stream.lines() if abs(number - each.number) <= _AROUND_LINES]
    return "\n".join(text[:LINE_CHARS] for text in near)


def _shows(example: Mapping[str, object], pattern: str) -> bool:
    """Whether a rule with the pattern would see its line in an example."""
    try:
        lines = view(from_payload(dict(example))).lines
    except EvidenceError:
        return False
    return bool(pattern) and any(re.search(pattern, line.text[:LINE_CHARS], FLAGS) for line in lines)


# -- names and TOML


def _slug(cluster: Cluster) -> str:
    said = " ".join(MARK.sub(" ", word) for word in cluster.words) or "says-nothing"
    words = re.findall(r"[a-z0-9]+", f"{cluster.tool} {said}".lower())
    slug = "-".join(dict.fromkeys(words[: _SLUG_WORDS + 1]))[:_SLUG_CHARS].strip("-")
    return slug or "unnamed-failure"


def _unused(slug: str, used: Collection[str]) -> str:
    number = 2
    unused = slug
    while unused in used:
        unused, number = f"{slug}-{number}", number + 1
    return unused


def _inline(example: Mapping[str, object]) -> str:
    return "{ " + ", ".join(f"{key} = {_value(value)}" for key, value in example.items()) + " }"


def _value(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    """Return a TOML string on one line in which every character shows as itself or is escaped."""
    return '"' + "".join(map(_character, text)) + '"'


def _character(each: str) -> str:
    if each in _ESCAPES:
        return _ESCAPES[each]
    if printable(each) == each:
        return each
    code = ord(each)
    if 0xD800 <= code < 0xE000:
        return "\ufffd"  # no TOML can say it
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
