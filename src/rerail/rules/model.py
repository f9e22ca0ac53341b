"""What a rule is, and what a classification says. Values only; `rerail.rules.engine` makes one of the other."""

from __future__ import annotations

from enum import IntEnum

from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rerail.evidence.model import StreamName
    from rerail.ids import ClassName, RuleSlug
    from rerail.taxonomy.actions import Action


class Trust(IntEnum):
    """How much a matcher's kind of evidence is worth; a higher one wins over any number of lower ones."""

    TEXT = 1
    """Anchored text in the failure channel."""
    EXIT = 2
    """A signal or an exit code."""
    STATUS = 3
    """An HTTP status, read with its headers and body."""
    CAUSE = 4
    """The innermost wrapped cause."""
    CODE = 5
    """A structured error code or an exception type."""


class Matcher(NamedTuple):
    """When a rule holds: every field that is not empty must; within a field, any entry suffices.

    Text patterns are regular expressions over one line, case as written, searched in the failure channel that a reader chose
    (never in what it masked). ``^`` and ``$`` are line ends.
    """

    text: tuple[str, ...] = ()
    """Patterns for any stream."""
    stderr: tuple[str, ...] = ()
    stdout: tuple[str, ...] = ()
    not_text: tuple[str, ...] = ()
    """Patterns of which none may hold in any stream's failure channel."""
    exception: tuple[str, ...] = ()
    """Names along an MRO: ``openai.RateLimitError`` or ``RateLimitError``; subclasses match."""
    code: tuple[str, ...] = ()
    """Structured error codes, whole, in any case and however their words are joined; ``~rate limit`` stands for codes with these
    words in them."""
    status: tuple[str, ...] = ()
    """HTTP statuses: ``429`` or a hundred: ``5xx``."""
    exit_code: tuple[int, ...] = ()
    signal: tuple[str, ...] = ()
    errno: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    """Programs or tools by name: ``git``."""
    command: tuple[str, ...] = ()
    """Patterns over the joined argument list."""
    header: tuple[tuple[str, str], ...] = ()
    """``(name, pattern)`` pairs; all must hold."""


class Example(NamedTuple):
    """Evidence JSON that a rule must or must not match; a bare string stands for its text."""

    input: str
    """Canonical JSON, so that a rule stays hashable."""


class Rule(NamedTuple):
    """One way to know one failure."""

    slug: RuleSlug
    class_: ClassName
    reason: str
    why: str
    """What is wrong when it matches, as a sentence for people."""
    source: str
    """Where the text or fact comes from: documentation, a tool's own source by name, or ``observed``."""
    when: tuple[Matcher, ...]
    """Any of these suffices."""
    summary: str = ""
    """The failure in one line; ``{0}`` stands for the first group of the text pattern that matched. Empty: the cited line."""
    may_have_landed: bool = False
    """The effect may have happened although the failure says otherwise (a cut stream, a timeout)."""
    priority: int = 0
    """Orders rules of equal trust and severity; a higher one wins. For telling a special case from its general one."""
    general: bool = False
    """It names only a family (``invalid_request_error``) or an echo (``failed to push some refs``); whatever names the cause
    beside it wins. A rule that has nothing but a status is general without saying so."""
    pack: str = ""
    """The recipe file that owns it."""
    matches: tuple[Example, ...] = ()
    passes_by: tuple[Example, ...] = ()


class Citation(NamedTuple):
    """A line that decided, or the fact that did when no line did."""

    stream: StreamName | str
    """A stream, or the field that decided: ``exit_code``, ``signal``, ``http_status``, ``exception_type``."""
    line: int
    """Counted from 1 in the stream as it was before clipping; 0 for a field."""
    text: str


class Candidate(NamedTuple):
    """A rule that matched, and what became of it: one row of the trace."""

    rule: RuleSlug
    class_: ClassName
    reason: str
    trust: Trust
    evidence: tuple[Citation, ...]
    verdict: str
    """``won``, or why it lost: ``less trusted than ...``, ``an echo of ...``, ``less safe than ...``."""


class Classification(NamedTuple):
    """The name of one failure, with everything that led to it."""

    class_: ClassName
    reason: str
    rule: RuleSlug
    """``""`` when no rule has evidence."""
    summary: str
    """The failure in one line, for people; redacted, clipped, free of control characters."""
    evidence: tuple[Citation, ...]
    action: Action
    retry_after_s: float | None = None
    """The server's own word on when to come back, in seconds from the failure; None when it said none."""
    resets_at: float | None = None
    """Seconds since the epoch, UTC, when the server named a point in time."""
    may_have_landed: bool = False
    trace: tuple[Candidate, ...] = ()
