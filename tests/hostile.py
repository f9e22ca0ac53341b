"""Failures as an enemy, a broken program or chance would write them, and what must hold for every one of them.

`case` makes evidence JSON from a random source: bait repeated without end, real failures damaged, logs from a grammar, bytes, and
evidence of odd structure. `name` names it, and `check` says whether that name is lawful.
"""

from __future__ import annotations

import base64
import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from rerail.errors import EvidenceError
from rerail.evidence.payload import from_payload
from rerail.evidence.payload_fields import PUBLIC_FIELDS
from rerail.rules import classify
from rerail.taxonomy import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from rerail.evidence.model import Evidence
    from rerail.rules import Citation, Classification, RuleSet

NOW = 1_796_065_200.0
STREAMS = ("message", "stderr", "stdout", "body")
EXIT_CODES = (None, 0, 1, 2, 101, 124, 126, 127, 128, 137, 139, 143, 255, -9, -11, 2**31)
TOOLS = ("", "git", "pytest", "npm", "Bash", "cargo", "ruff", "curl", "docker", "make", "tsc", "go", "pip", "grep")
COMMANDS = (
    "", "git push origin main", "pytest -q", "sh -c 'git commit -m x && npm test'", "npm ci",
    "curl -i https://example.com", "make",
    "python -m unittest", "cat log.txt", "env A=1 timeout 60 cargo test", "docker build .", "ruff check .",
    "echo \"unclosed",
)  # fmt: skip

BAIT = (
    # What ends nowhere, nests, overlaps or must be looked back from.
    "a", "A", "0", " ", "\t", "\n", "\r", "\r\n", "\b", "\0", "\x1b", "\x1b[", "\x1b[31m", "\x1b[2K", "\x1b]0;",
    "\x9b", "\x85",
    "\u2028", "\u202e", "\u0130", "\ufeff", "\ud800", "é", "日本", "🙂", "\U000e0041", "e\u0301", ".", ",", ":", ";",
    "-", "--", "_",
    "=", "==", "/", "//", "\\", "\\\\", "'", '"', '\\"', "`", "```\n", "~~~\n", "(", ")", "[", "]", "{", "}", "<",
    ">", "|", "│ ",
    "^", "~", "*", "#", "@", "@@ ", "+", "+ ", "- ", "> ", "$ ", "%", "&", "?", "!", "…", "✖ ", "● ", "⎿ ",
    # Structure.
    '{"error":', '{"error":{"code":"x","message":"', '{"a":[', "[[", "{'code': 'x', ", '"message": "',
    '\\"message\\": \\"', "<a>",
    "<error><code>x</code>", "&amp;", "data: {", "Caused by: ", "(Caused by ", "last error: ", "cause: ", "reason: ",
    # Secrets and what looks like them.
    "password=", "token: ", "api_key=x", "--password ", "Authorization: Bearer ", "cookie: a=", "sk-", "ghp_", "eyJ",
    ".eyJ", "AKIA",
    "https://a:b@", "://", "://a@", "?token=", "&sig=", "-u a:b ", "machine ", "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----\n", "pass", "key", "sig", "x" * 14,
    # Words that wake rules and readers.
    "error: ", "Error", "ERROR ", "error", "fatal: ", "failed", "FAILED ", "FAIL ", "warning: ",
    "Traceback (most recent call last):\n",
    '  File "a.py", line 1, in f\n', "    at f (a.js:1:2)\n", "ValueError: ", "a.b.c.Error: ",
    "Exception in thread \"main\" ",
    "During handling of the above exception, another exception occurred:\n",
    "  + Exception Group Traceback (most recent call last):\n",
    "HTTP/1.1 503 Service Unavailable\n", "status 429 ", "429 Too Many Requests ", "Error code: 529 ", "500 ", "404",
    "[Errno 28] ",
    "ENOSPC ", "ECONNRESET", "E1234 ", "exit code 137 ", "SIGKILL ", "(SIGSEGV)", "*** [x] Error 127 ",
    "code = Unavailable ",
    "rate_limit_error: ", "RESOURCE_EXHAUSTED: ", "npm ERR! code E404\n", "-32602 ", "retry after 3s ",
    "Retry-After: 5\n",
    "try again in 17 s ", "resets at 3pm (Europe/Rome) ", "x-ratelimit-reset: 1\n", "retry_delay { seconds: ",
    "attempt 2/5 ",
    "CONFLICT (content): Merge conflict in a\n", "husky - pre-commit hook exited with code 1\n", "lefthook ",
    "- hook id: x\n",
    "=== FAILURES ===\n", "=== test session starts ===\n", "E   assert 1 == 2\n", "FAILED a.py::t - x\n",
    "1 failed in 0.1s\n",
    "Tests: 1 failed\n", "  ● a\n", "not ok 1 - x\n", "--- FAIL: T\n", "test result: FAILED. ", "Ran 1 test\n",
    "Found 1 error.\n",
    "a.py:1:2: E501 x\n", "a.c:1:2: error: x\n", "error[E0308]: x\n", "  --> a.rs:1:2\n", "a.ts(1,2): error TS1: x\n",
    "12 | x\n",
    "diff --git a b\n", "@@ -1 +1 @@\n", "#12 3.4 ", "2026-11-30T12:00:00Z ", "[12:00:00] ", "12:00:00.1 ",
    "remote: ", "##[error]",
    "I'm ", " is handled", "permission denied", "not found", "timed out", "connection refused",
    "No such file or directory\n",
)  # fmt: skip
"""Pieces of text that something in here looks for, or that a careless pattern would choke on."""


class Case(NamedTuple):
    """One input."""

    kind: str
    payload: Any


def case(random: Random, seeds: Sequence[dict[str, Any]], *, most_chars: int) -> Case:
    """Return a random input.

    Args:
        random: Decides everything.
        seeds: Real failures as evidence JSON, to be damaged.
        most_chars: How long one text may be. Short ones are far more frequent.
    """
    kind = random.choice(tuple(KINDS))
    size = int(math.exp(random.uniform(0, math.log(most_chars))))
    return Case(kind, KINDS[kind](random, seeds, size))


def repeated(random: Random, seeds: Sequence[dict[str, Any]], size: int) -> Any:
    """One piece of bait over and over, between two others: what nested repeats and lookbehinds choke on."""
    del seeds
    piece = "".join(random.choices(BAIT, k=random.choice((1, 1, 1, 2, 3))))
    text = random.choice(BAIT) + piece * (size // len(piece) + 1) + random.choice(BAIT)
    return _given_as(random, text)


def mixed(random: Random, seeds: Sequence[dict[str, Any]], size: int) -> Any:
    """Bait of all kinds, so that many rules and readers wake at once."""
    del seeds
    pieces = random.choices(BAIT, k=size // 8 + 1)
    return _given_as(random, random.choice(("", " ", "\n")).join(pieces))


def damaged(random: Random, seeds: Sequence[dict[str, Any]], size: int) -> Any:
    """A real failure whose texts were cut, doubled, swapped, baited, wrapped or repeated."""
    seed = random.choice(seeds)
    return {
        name: _damage(random, value, size) if isinstance(value, str) and name in STREAMS else value
        for name, value in seed.items()
    }


def together(random: Random, seeds: Sequence[dict[str, Any]], size: int) -> Any:
    """Many real failures in one log."""
    lines: list[str] = []
    chars = 0
    while chars < size:
        texts = [value for name, value in random.choice(seeds).items() if name in STREAMS and isinstance(value, str)]
        lines += texts
        chars += sum(map(len, texts)) + 1
    return _given_as(random, "\n".join(lines))


def logged(random: Random, seeds: Sequence[dict[str, Any]], size: int) -> Any:
    """A log of a grammar: stamps, levels, sources, words, numbers, and now and then a line of a real failure."""
    told = [line for name, value in random.choice(seeds).items() if name in STREAMS for line in str(value).split("\n")]
    lines: list[str] = []
    chars = 0
    while chars < size:
        words = random.choices(_WORDS, k=random.randrange(1, 20))
        line = random.choice(_STAMPS) + random.choice(_LEVELS) + random.choice((" ", "=", ": ")).join(words)
        lines.append(random.choice(told or [line]) if random.random() < 0.05 else line)
        chars += len(lines[-1]) + 1
    return _given_as(random, "\n".join(lines))


def bytes_of_chance(random: Random, seeds: Sequence[dict[str, Any]], size: int) -> Any:
    """Bytes as a broken capture hands them on, base64, and characters of all planes."""
    del seeds
    size = min(size, 1 << 18)
    data = random.randbytes(size)
    planes = "".join(map(chr, random.choices(range(0x110000), k=min(size, 4096))))
    texts = (
        data.decode("latin-1"),
        data.decode("utf-8", "replace"),
        base64.b64encode(data).decode(),
        data.hex(),
        planes,
    )
    return _given_as(random, random.choice(texts))


def structured(random: Random, seeds: Sequence[dict[str, Any]], size: int) -> Any:
    """Evidence JSON of odd structure: deep, wide, of wrong types, with fields that belong together or never do."""
    wanted = random.sample(tuple(PUBLIC_FIELDS), k=random.randrange(1, 6))
    payload = {name: _value(random, size, depth=4) for name in wanted}
    payload |= {"message": _nested(random, size)} if random.random() < 0.3 else {}
    return payload | (damaged(random, seeds, size) if random.random() < 0.5 else {})


KINDS: dict[str, Callable[[Random, Sequence[dict[str, Any]], int], Any]] = {
    each.__name__: each for each in (repeated, mixed, damaged, together, logged, bytes_of_chance, structured)
}

_STAMPS = (
    "", "2026-11-30T12:00:00.123Z ", "[2026-11-30 12:00:00,123] ", "12:00:00 ", "#7 1.234 ", "remote: ", "  ⎿  ",
    "npm error ",
)  # fmt: skip
_LEVELS = (
    "", "INFO ", "ERROR ", "error: ", "warning: ", "[WARN] ", "level=error msg=", "fatal: ", "E   ", "    at ",
    '{"msg":"',
)  # fmt: skip
_WORDS = (
    "connection", "refused", "timeout", "retry", "failed", "error", "denied", "permission", "quota", "limit", "key",
    "token",
    "test", "assert", "expected", "lock", "merge", "branch", "worktree", "memory", "disk", "model", "invalid",
    "schema", "field",
    "type", "module", "version", "port", "host", "status", "code", "exit", "signal", "killed", "upload",
    "429", "503", "0.17", "127.0.0.1:5432", "src/app/main.py:12:3", "user@example.com", "--force", "feature/x",
    "'quoted name'", "x=1",
    "https://api.example.com/v1/messages", "org.example.FooException", "TypeError:", "ENOENT", "E501",
    "req_0123456789abcdef", "(1/3)",
)  # fmt: skip


def _given_as(random: Random, text: str) -> dict[str, Any]:
    payload: dict[str, Any] = {random.choice(STREAMS): text}
    optional = {"exit_code": EXIT_CODES, "tool": TOOLS, "command": COMMANDS, "http_status": (None, 200, 400, 429, 500)}
    return payload | {name: random.choice(values) for name, values in optional.items() if random.random() < 0.4}


def _damage(random: Random, text: str, size: int) -> str:
    for _ in range(random.randrange(1, 4)):
        at, stop = sorted((random.randrange(len(text) + 1), random.randrange(len(text) + 1)))
        text = random.choice(
            (
                text[:at],
                text[at:],
                text[:at] + text[stop:],
                text[:stop] + text[at:],
                text[:at] + random.choice(BAIT) * random.randrange(1, 50) + text[at:],
                text[:at] + text[at:stop].swapcase() + text[stop:],
                text.replace("\n", random.choice((" ", "", "\r\n", "\\n", "\n\n"))),
                json.dumps({"error": {"message": text, "code": text[:20]}}),
                f"Caused by: {text}",
            )
        )[: 1 << 20]
    return (text + random.choice(("", "\n"))) * (size // (len(text) + 1) + 1) if random.random() < 0.2 else text


def _nested(random: Random, size: int) -> str:
    depth = min(size, 20_000)
    opened = random.choice(('{"error":', "[", '{"a":[', '{"message":"', "{'error': "))
    return opened * depth + random.choice(("", "1")) + random.choice(("", "}", "]", '"}')) * depth


def _value(random: Random, size: int, depth: int) -> Any:
    simple = (
        None,
        True,
        0,
        -1,
        429,
        2**63,
        1.5,
        math.nan,
        math.inf,
        "",
        "x",
        "SIGKILL",
        "a" * size,
        *random.choices(BAIT, k=3),
    )
    if depth and random.random() < 0.4:
        many = range(random.randrange(6))
        keys = ("error", "message", "code", "type", "status", "retry-after", "command", random.choice(BAIT))
        return random.choice(
            (
                [_value(random, size, depth - 1) for _ in many],
                {random.choice(keys): _value(random, size, depth - 1) for _ in many},
            )
        )
    return random.choice(simple)


def name(payload: Any, rules: RuleSet) -> tuple[Evidence, Classification] | None:
    """Name a failure; None where the evidence was refused, as bad evidence must be."""
    try:
        evidence = from_payload(payload)
    except EvidenceError:
        return None
    return evidence, classify(evidence, rules, now=NOW)


def check(evidence: Evidence, named: Classification) -> None:
    """Say whether a name is lawful.

    Raises:
        AssertionError: An unknown class, a citation of what is not there, a wait that is no number.
    """
    if named.class_ != "unclassified":
        assert named.action == BUILT_IN.action(named.class_, named.reason), named
        assert named.evidence, "a name without evidence"
    for candidate in named.trace:
        assert candidate.class_ in BUILT_IN
        for citation in candidate.evidence:
            assert _stands_in(citation, evidence), citation
    assert all(_stands_in(citation, evidence) for citation in named.evidence), named.evidence
    assert named.summary.isprintable(), ascii(named.summary)
    for number in (named.retry_after_s, named.resets_at):
        assert number is None or (math.isfinite(number) and number >= 0), number


def _stands_in(citation: Citation, evidence: Evidence) -> bool:
    """Tell whether what is cited is part of that line, as the evidence keeps it; a field is cited as line 0."""
    stream = next((stream for stream in evidence.streams if stream.name == citation.stream), None)
    if stream is None or not citation.line:
        return citation.line == 0
    return any(citation.text in line for number, line in stream.lines() if number == citation.line)
