"""The fenced block that is shown before any retry: five fields of one failure, made to be read by people and parsed by programs.

Nothing that a failure says can forge one. A cited line is written as a JSON string in which every character that does not show
as itself is escaped; the other fields are made printable, on one line. So no value can start a line, close the fence or move a
cursor. What the action field says is written by `rerail.boundary.words`. Standard library only, for a hook shows blocks too.
"""

from __future__ import annotations

from rerail.errors import UsageError
from rerail.evidence.ansi import printable
from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.plain_json import parse, quoted, quoted_in_ascii
from rerail.regex import ASCII, DOTALL, compiled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from rerail.budget.model import Balance
    from rerail.decisions.effects import FailureRecord
    from rerail.rules.model import Classification
    from rerail.taxonomy import Taxonomy

FENCE = "```"
TITLE = "recovery-classification:"
_KEYS = ("failure", "class", "evidence", "action", "retry budget")
_FIELDS = tuple(compiled(rf"  {key + ':':<16}(.*)", DOTALL) for key in _KEYS)
_EVIDENCE = compiled(r'(?P<source>[^":]+): (?P<quoted>".*")')
_BUDGET = compiled(r"(?P<remaining>\d{1,9})/(?P<budget>\d{1,9}) remaining \(this class\)", ASCII)
_NO_EVIDENCE = "none"


class BlockError(UsageError):
    """There is no block in the text, or the one that begins there is not whole."""

    slug = "block-invalid"


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _source(text: str) -> str:
    # What separates the source from the quoted text cannot stand in it, so that it is found again.
    return _one_line(text.replace(":", " ").replace('"', " "))


def _paired(text: str) -> str:
    """Join surrogates that stand as a pair, as every reader of JSON does."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


class _Fields(NamedTuple):
    failure: str
    """The failure in one line."""
    class_: str
    evidence_source: str
    """Where the deciding evidence stands: ``stderr line 14``, ``exit code``; ``""`` when no rule has evidence."""
    evidence_text: str
    """The deciding line or value, as it came."""
    action: str
    """What is done about it."""
    remaining: int
    """Recoveries that are left to the unit for this class."""
    budget: int


class Block(_Fields):
    """What a block says. Its values are made fit to be shown when it is built, so that it equals what is read back."""

    __slots__ = ()

    def __new__(
        cls,
        failure: str,
        class_: str,
        evidence_source: str,
        evidence_text: str,
        action: str,
        remaining: int,
        budget: int,
    ) -> Self:
        """Make a block of what it is to say."""
        return super().__new__(
            cls,
            _one_line(failure),
            _one_line(class_),
            _source(evidence_source),
            _paired(evidence_text),
            _one_line(action),
            remaining,
            budget,
        )

    @property
    def text(self) -> str:
        """The block as it is shown, with its fence, without a newline at the end."""
        evidence = f"{self.evidence_source}: {_quote(self.evidence_text)}" if self.evidence_source else _NO_EVIDENCE
        budget = f"{self.remaining}/{self.budget} remaining (this class)"
        values = (self.failure, self.class_, evidence, self.action, budget)
        fields = (f"  {key + ':':<16}{value}" for key, value in zip(_KEYS, values, strict=True))
        return "\n".join((FENCE, TITLE, *fields, FENCE))


def block_of(record: FailureRecord, taxonomy: Taxonomy) -> Block:
    """Return the block of a named failure.

    Args:
        record: The failure, and what follows from it.
        taxonomy: The classes in force; says in words what a class does.
    """
    from rerail.boundary.words import action_in_words  # attrs, which a hook has no use for

    return named_block(record.classification, action_in_words(record, taxonomy), record.balance)


def named_block(named: Classification, action: str, balance: Balance | None) -> Block:
    """Return the block of a named failure.

    Args:
        named: What it was named.
        action: What is done about it, in words.
        balance: What is left to the unit for the class; None for a class that is not charged.
    """
    source, text = _deciding(named)
    return Block(
        failure=named.summary or "failed",
        class_=named.class_,
        evidence_source=source,
        evidence_text=text,
        action=action,
        remaining=balance.remaining if balance else 0,
        budget=balance.budget if balance else 0,
    )


def render_block(record: FailureRecord, taxonomy: Taxonomy) -> str:
    """Return the fenced block of a named failure, without a newline at the end."""
    return block_of(record, taxonomy).text


def parse_block(text: str) -> Block:
    """Return the first whole block in *text*, a log for instance.

    Raises:
        BlockError: There is none.
    """
    fault: BlockError | None = None
    for reading in _readings(text):
        if isinstance(reading, Block):
            return reading
        fault = fault or reading
    raise fault or BlockError(f"there is no {TITLE.removesuffix(':')} block in the text")


def find_blocks(text: str) -> Iterator[Block]:
    """Yield every whole block in *text*, in order; what only begins like one is passed over."""
    return (reading for reading in _readings(text) if isinstance(reading, Block))


def _readings(text: str) -> Iterator[Block | BlockError]:
    """Yield what every line that reads like a block's title leads to."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line.strip() == TITLE:
            try:
                yield _parsed(lines, at)
            except BlockError as error:
                yield error


def _parsed(lines: Sequence[str], title: int) -> Block:
    """Read the block whose title is line *title*, counted from 0; all its lines may be indented alike."""
    indent = lines[title][: lines[title].index(TITLE)]
    values: list[str] = []
    for key, field, at in zip(_KEYS, _FIELDS, range(title + 1, title + 1 + len(_KEYS)), strict=True):
        line = lines[at].removesuffix("\r") if at < len(lines) else ""
        match = field.fullmatch(line.removeprefix(indent))
        if match is None or not line.startswith(indent):
            raise BlockError(f"line {at + 1}: the block's field {key!r} must stand here, got {line!r:.60}")
        values.append(match[1])
    failure, class_, evidence, action, budget = values
    source, text = _read_evidence(evidence, line=title + 4)
    numbers = _BUDGET.fullmatch(budget)
    if numbers is None:
        raise BlockError(f"line {title + 6}: a budget reads '2/3 remaining (this class)', got {budget!r:.60}")
    return Block(failure, class_, source, text, action, int(numbers["remaining"]), int(numbers["budget"]))


def _read_evidence(value: str, *, line: int) -> tuple[str, str]:
    if value == _NO_EVIDENCE:
        return "", ""
    match = _EVIDENCE.fullmatch(value)
    try:
        text = parse(match["quoted"]) if match else None
    except ValueError:
        text = None
    if match is None or not isinstance(text, str):
        raise BlockError(f"line {line}: evidence reads 'stderr line 14: \"...\"', got {value!r:.60}")
    return match["source"], text


def _deciding(named: Classification) -> tuple[str, str]:
    """Return where the deciding evidence stands, and what it is."""
    if not named.evidence:
        return "", ""
    cited = named.evidence[0]
    source = _source(cited.stream.replace("_", " ")) or "evidence"
    return (f"{source} line {cited.line}" if cited.line else source), cited.text


def _quote(text: str) -> str:
    """Return a JSON string in which every character shows as itself or is escaped."""
    said = quoted(text)
    if printable(said) == said:
        return said
    return "".join(each if printable(each) == each else quoted_in_ascii(each)[1:-1] for each in said)
