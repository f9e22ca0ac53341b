"""Secrets that are known by their own shape: provider keys, tokens, JSON web tokens, private key blocks.

What is secret by the name beside it (``password=...``) belongs to `rerail.evidence.secret_pairs`.
"""

from __future__ import annotations

from rerail.evidence.lazy import compiled
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re


def _prefixed(kind: str, literal: str, tail: str) -> tuple[str, str, str]:
    # The boundary is checked after the literal, so that the search can jump from literal to literal. A token may follow an
    # escaped "=" in a URL: %3Dghp_...
    escaped = "".join([char if char.isalnum() else f"\\{char}" for char in literal])
    boundary = rf"(?:(?<![A-Za-z0-9]{escaped})|(?<=%[0-9A-Fa-f]{{2}}{escaped}))"
    return literal, kind, escaped + boundary + tail


_DIGIT_SOON = r"(?=[A-Za-z_-]{0,40}[0-9])"  # words joined by hyphens are no key
_WORDY = r"[A-Za-z0-9_-]"

_NETRC = "machine "

# (literal, kind, pattern): a text without the literal is not searched. The patterns are linear on any text: each is entered at
# its literal or at a boundary, and never gives back what it took.
SHAPES: tuple[tuple[str, str, str], ...] = (
    # OpenAI, Anthropic, OpenRouter, DeepSeek, Langfuse and others
    _prefixed("api-key", "sk-", rf"{_DIGIT_SOON}{_WORDY}{{16,}}+"),
    _prefixed("api-key", "pk-lf-", r"[0-9a-f-]{16,}+"),
    _prefixed("api-key", "AIza", rf"{_WORDY}{{30,}}+"),
    _prefixed("token", "ya29.", r"[A-Za-z0-9_.-]{16,}+"),
    _prefixed("api-key", "GOCSPX-", rf"{_WORDY}{{16,}}+"),
    *(_prefixed("token", f"gh{kind}_", r"[A-Za-z0-9_.-]{16,}+") for kind in "oprsu"),
    _prefixed("token", "github_pat_", r"[A-Za-z0-9_]{16,}+"),
    *(
        _prefixed("token", f"gl{kind}-", r"[A-Za-z0-9_.-]{16,}+")
        for kind in ("pat", "dt", "rt", "ptt", "ft", "soat", "oas", "cbt", "imt", "agent", "ffct")
    ),
    _prefixed("token", "glc_", r"[A-Za-z0-9+/=_]{20,}+"),
    _prefixed("token", "glsa_", r"[A-Za-z0-9+/=_]{20,}+"),
    _prefixed("token", "xox", r"[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}+"),
    _prefixed("token", "xapp-", r"\d-[A-Za-z0-9-]{10,}+"),
    _prefixed("webhook", "hooks.slack.com/services/", r"[A-Za-z0-9/]{16,}+"),
    ("/api/webhooks/", "webhook", rf"/api/webhooks/\d{{5,}}+/{_WORDY}{{16,}}+"),  # Discord
    *(_prefixed("api-key", kind, r"[A-Z0-9]{16}(?![A-Za-z0-9])") for kind in ("AKIA", "ASIA", "ABIA", "ACCA")),
    _prefixed("token", "npm_", r"[A-Za-z0-9]{30,}+"),
    _prefixed("token", "pypi-", rf"{_WORDY}{{40,}}+"),
    _prefixed("token", "hf_", r"[A-Za-z0-9]{30,}+"),
    # Stripe and its likes
    *(_prefixed("api-key", f"{kind}k_", r"(?:live|test|prod)_[A-Za-z0-9]{10,}+") for kind in "prs"),
    _prefixed("api-key", "whsec_", r"[A-Za-z0-9+/=]{16,}+"),
    _prefixed("api-key", "SG.", rf"{_WORDY}{{16,}}+\.{_WORDY}{{16,}}+"),
    _prefixed("api-key", "gsk_", r"[A-Za-z0-9]{20,}+"),
    _prefixed("api-key", "xai-", r"[A-Za-z0-9]{20,}+"),
    _prefixed("api-key", "pplx-", r"[A-Za-z0-9]{20,}+"),
    _prefixed("api-key", "nvapi-", rf"{_WORDY}{{20,}}+"),
    _prefixed("api-key", "r8_", r"[A-Za-z0-9]{30,}+"),
    _prefixed("api-key", "SK", r"[0-9a-f]{32}(?![A-Za-z0-9])"),  # Twilio
    _prefixed("api-key", "key-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),  # Mailgun
    _prefixed("token", "HRKU-", rf"{_WORDY}{{20,}}+"),  # Heroku
    (_NETRC, "password", r"machine \S{1,200}+ login \S{1,200}+ password \S{1,200}+"),  # netrc(5)
    _prefixed("api-key", "lsv2_", r"(?:pt|sk)_[A-Za-z0-9_]{20,}+"),
    _prefixed("token", "dapi", r"[0-9a-f]{32}(?:-\d)?"),
    *(_prefixed("token", f"do{kind}_v1_", r"[0-9a-f]{32,}+") for kind in "opr"),
    _prefixed("api-key", "lin_api_", r"[A-Za-z0-9]{20,}+"),
    _prefixed("token", "ntn_", r"[A-Za-z0-9]{30,}+"),
    _prefixed("token", "shp", r"(?:at|ca|pa|ss)_[0-9A-Fa-f]{24,}+"),
    _prefixed("api-key", "sbp_", rf"{_WORDY}{{20,}}+"),
    _prefixed("api-key", "sb_secret_", rf"{_WORDY}{{20,}}+"),
    *(_prefixed("token", f"hv{kind}.", rf"{_WORDY}{{20,}}+") for kind in "bsr"),
    _prefixed("private-key", "AGE-SECRET-KEY-", r"[0-9A-Z]{20,}+"),
    (":AA", "token", rf"(?<![0-9])[0-9]{{8,10}}:AA{_WORDY}{{32,}}+"),  # Telegram bots
    _prefixed("api-key", "tskey-", r"[A-Za-z0-9-]{16,}+"),
    _prefixed("token", "fm2_", r"[A-Za-z0-9+/=_-]{20,}+"),
    _prefixed("token", "dckr_", rf"[a-z]{{3}}_{_WORDY}{{16,}}+"),
    _prefixed("token", "ATATT3", r"[A-Za-z0-9_=-]{20,}+"),
    _prefixed("token", "figd_", rf"{_WORDY}{{20,}}+"),
    _prefixed("api-key", "PMAK-", r"[A-Za-z0-9-]{20,}+"),
    _prefixed("token", "sntry", r"[su]_[A-Za-z0-9+/=_.-]{20,}+"),
    _prefixed("api-key", "NRAK-", r"[A-Z0-9]{20,}+"),
    _prefixed("token", "pul-", r"[0-9a-f]{40}"),
    _prefixed("api-key", "rubygems_", r"[0-9a-f]{32,}+"),
    (".atlasv1.", "token", r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}+"),
    _prefixed("token", "pscale_", r"[a-z]{2,6}_[A-Za-z0-9_.-]{20,}+"),
    _prefixed("token", "sq0", rf"(?:atp|csp|idp)-{_WORDY}{{20,}}+"),  # Square
    _prefixed("api-key", "tvly-", rf"{_DIGIT_SOON}{_WORDY}{{20,}}+"),
    _prefixed("token", "CLOJARS_", r"[0-9a-f]{40,}+"),
)

# No secret of the shapes above is shorter, but for netrc's. PERF: most short messages have no such run, and in the runs of a
# log there is less to search than in the log.
_TOKEN_RUN = compiled(r"[A-Za-z0-9_.+/=:-]{14,}+")

# A run of token characters is entered once, at its start; where in it the header begins is looked up afterwards.
_JWT = rf"(?<!{_WORDY}){_WORDY}++\.eyJ{_WORDY}{{6,}}+(?:\.{_WORDY}*+){{0,3}}"


def hide_shapes(text: str) -> str:
    """Return *text* with every secret of a known shape replaced."""
    runs = "\n".join(_TOKEN_RUN.findall(text))
    if _NETRC in text:
        runs += f"\n{_NETRC}"
    if runs:
        for literal, kind, pattern in SHAPES:
            if literal in runs:
                text = compiled(pattern).sub(f"[redacted:{kind}]", text)
    if ".eyJ" in text:
        text = compiled(_JWT).sub(_hide_jwt, text)
    if "PRIVATE KEY" in text:
        text = _hide_private_keys(text)
    return text


def _hide_jwt(match: re.Match[str]) -> str:
    start = match[0].find("eyJ")
    return f"{match[0][:start]}[redacted:jwt]" if ".eyJ" in match[0][start:] else match[0]


_PEM_MARK = r"-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_MAX_CHARS = 32 * 1024
# Base64 between line ends (real ones, or the two characters "\n"), behind a diff's or a log's margin.
_PEM_LINE = r"[ \t>|+]{0,8}[A-Za-z0-9+/=]{16,}+[ \t]{0,4}"
_PEM_LAST_LINE = r"[ \t>|+]{0,8}[A-Za-z0-9+/=]{1,76}[ \t]{0,4}"
_PEM_CUT_LINE = r"(?:\n|\\n|\\r)++[ \t>|+]{0,8}[A-Za-z0-9+/=]{40,}+"  # the text goes on behind it
_PEM_LINES = rf"(?:(?:\n|\\n|\\r)*+{_PEM_LINE}(?=\n|\\|\Z))*+(?:{_PEM_CUT_LINE})?"


def _hide_private_keys(text: str) -> str:
    """Hide private key blocks: whole ones, and those whose end or beginning was clipped away."""
    spans: list[tuple[int, int]] = []
    begin: re.Match[str] | None = None
    for mark in compiled(_PEM_MARK).finditer(text):
        if begin is not None and (mark[1] == "BEGIN" or mark.end() - begin.start() > _PEM_MAX_CHARS):
            spans.append((begin.start(), _base64_end(text, begin.end())))
            begin = None
        if mark[1] == "BEGIN":
            begin = mark
        elif begin is not None:
            spans.append((begin.start(), mark.end()))
            begin = None
        else:
            spans.append((_base64_start(text, mark.start(), floor=spans[-1][1] if spans else 0), mark.end()))
    if begin is not None:
        spans.append((begin.start(), _base64_end(text, begin.end())))
    parts: list[str] = []
    at = 0
    for start, end in spans:
        # The newlines stay, so that line numbers stay true.
        parts += (text[at:start], "[redacted:private-key]", "\n" * text.count("\n", start, end))
        at = end
    return "".join((*parts, text[at:]))


def _base64_end(text: str, start: int) -> int:
    """Return where the lines of base64 that begin at *start* end."""
    match = compiled(_PEM_LINES).match(text, start)
    return match.end() if match else start


def _base64_start(text: str, end: int, *, floor: int) -> int:
    """Return where the lines of base64 that end at *end* begin, not before *floor*."""
    start = end
    line = _PEM_LAST_LINE
    while start > floor and text[start - 1] == "\n":
        line_start = text.rfind("\n", floor, start - 1) + 1 or floor
        if not compiled(line).fullmatch(text, line_start, start - 1):
            break
        start, line = line_start, _PEM_LINE
    return start
