"""The phrases that lead to a wait, as data. `rerail.rules.wait_hints.prose` reads with them.

A space in a pattern stands for one to three blanks of any kind. Patterns match in any case, at the start of a word.
"""

from __future__ import annotations

from rerail.light_typing import NamedTuple


class Phrase(NamedTuple):
    """Words that lead to a time.

    Attributes:
        slug: What it says, in forms as `prose-<slug>-...`; phrases that say the same share it.
        stems: It cannot occur without one of these (lower case), so it is compiled only where one does.
        lead: The words, up to the one that joins them to the time.
        joins: The joining words, each of which says what may follow (`JOINS`).
        alone: What follows where no joining word stands: a "length", a "point", bare "seconds"; "" for nothing.
        bare_seconds: A number without a unit, at the end of a phrase, is seconds.
        unless: Not where this is found in the text before; `$` is the start of the lead.
        needs: Only where this is found in the text before.
        then: Only where this follows the time.
        own: Somebody's own schedule.
    """

    slug: str
    stems: tuple[str, ...]
    lead: str
    joins: str = "in|after|at|on|by|from"
    alone: str = ""
    bare_seconds: bool = False
    unless: str = ""
    needs: str = ""
    then: str = ""
    own: bool = False


#: What may follow each joining word. "every", "within" and "per" define a limit and are no joining words.
JOINS: dict[str, tuple[str, ...]] = {
    "in": ("length",), "for": ("length",), "of": ("length",), "after": ("length", "point"), "before": ("length", "point"),
    "at": ("point",), "on": ("point",), "by": ("point",), "from": ("point",), "until": ("point",), "till": ("point",),
    "nach": ("length",), "dans": ("length",), "en": ("length",), "dentro de": ("length",), "em": ("length",),
}  # fmt: skip

_OBJECT = (
    r"(?:,? (?:again|later|back|it|this|that|the|your|same|requests?|calls?|query|operation|message|connect(?:ion|ing)"
    r"|sending|automatically|please)){0,5}"
)
_COUNTER = r"(?: \(?(?:attempt )?#?\d{1,3}(?:\s?/\s?\d{1,3}| of \d{1,3})?\)?)?"
_NOT = r"(?:\b(?:not|never|cannot|no|without|did)|n't|\b(?:failed|unable) to) (?:be )?$"
_OTHERS_PLAN = r"(?:\b(?:will|next|automatically)|'ll|->|=>|→|\bauto-)\s{0,2}(?:automatically )?$"
_IMPERATIVE = r"(?:^\s{0,9}|[.!?;:,(\[|\n—·-]\s{0,9}|\b(?:please|must|should|to|and|or|then|kindly|just|may|can) )$"
_NO_LIMIT = (
    r"\b(?:connection|conn|stream|socket|peer|tcp|hard|soft|mixed|git|password|factory|device|link|channel|session"
    r"|database|db|state|counters?|timers?)(?: was)? $"
)
_LIMIT = r"\b(?:limit(?:s|ed)?|quota|usage|exceeded|throttl\w{1,4}|too many|credits?|allowance|budget|capacity|rate)\b"
_USABLE = r"(?:available|accessible|usable|allowed|accepted|active|enabled|online|open|ready|possible|back)"
_RESET = (
    "(?:reset|refresh(?:ed)?|renew(?:ed)?|refill(?:ed)?|replenish(?:ed)?|lift(?:ed)?|unlock(?:ed)?|unblocked|restored|reopen"
    "|re-?enabled)"
)
_RESET_STEMS = (
    "reset", "refresh", "renew", "refill", "replenish", "lift", "unlock", "unblock", "restore", "reopen", "enable", "resume",
    "cycle ends",
)  # fmt: skip
_TRY = r"(?:re-?try|try again|re-?connect)"

PHRASES: tuple[Phrase, ...] = (
    Phrase(
        "try-again",
        ("try", "tried", "back", "submitted"),
        rf"(?:re-?try|be re-?(?:tried|submitted)|try|(?:come|check) back){_OBJECT}",
        alone="point",
        bare_seconds=True,
        unless=rf"{_NOT}|{_OTHERS_PLAN}",
    ),
    Phrase("available", ("again",), rf"(?:{_USABLE}|requests?|use \w{{1,20}}) again", alone="point"),
    Phrase("available", ("be ", "become", "expected"), rf"(?:be|becomes?|expected) {_USABLE}(?: online)?"),
    Phrase("available", ("back online",), "back online"),
    Phrase("available", ("availability",), "time to availability", alone="length"),
    Phrase("wait", ("wait",), "wait", joins="for|until|till", alone="length", needs=_IMPERATIVE),
    Phrase("wait", ("wait of",), "a wait", joins="of"),
    Phrase("wait", ("wait",), r"(?:estimated wait|wait(?:ing)?[\s-]time)(?: is)?", joins="of", alone="length"),
    Phrase("break", ("break", "hold off"), "(?:take a break|hold off)", joins="for|until"),
    Phrase("break", ("back off", "slow down", "pause"), "please (?:back off|slow down|pause)", joins="for|until"),
    Phrase(
        "resets",
        _RESET_STEMS,
        "(?:resets|refreshes|renews|refills|replenishes|reopens|resumes|unlocks|cycle ends)(?: again| automatically| next)?",
        alone="point",
        unless=_NO_LIMIT,
    ),
    Phrase(
        "resets",
        _RESET_STEMS,
        rf"(?:will|be|is|are|gets?|next|limits?|quotas?|usage|window) (?:be )?{_RESET}(?: time| date| automatically| again)?",
        alone="point",
    ),
    Phrase("resets", ("reset",), "(?:until|till|time to) reset", alone="length"),
    Phrase("resets", ("reset",), "reset", joins="in|after", unless=_NO_LIMIT, needs=_LIMIT),
    Phrase("resets", ("reset",), "reset(?: time| date)?", joins="at|on|by", alone="point", unless=_NO_LIMIT),
    Phrase(
        "until",
        ("until", "till"),
        r"(?:limited|limits?|exceeded|throttled|blocked|banned|suspended|paused|unavailable|disabled|locked|cool-?down"
        r"|maintenance|again|retry)\b[^.\n]{0,30}?",
        joins="until|till",
    ),
    Phrase(
        "not-before",
        ("not", "n't"),
        rf"(?:not|\w{{2,6}}n't) (?:re-?try|be re-?tried|try again|(?:send|make) (?:another|more|any)){_OBJECT}",
        joins="before|until|till|for",
    ),
    Phrase(
        "limited",
        ("limited", "throttled", "banned", "suspended", "locked", "cool"),
        r"(?:rate[\s-]limited|throttled|banned|suspended|locked out|cool(?:ing)?[\s-]?down)(?!\()"
        "(?: period| window| time| active)?",
        joins="for|of",
        alone="length",
    ),
    Phrase(
        "next-request",
        ("next", "another"),
        "(?:next|another)(?: available)? (?:request|call|message|query|reset|refresh|slot|window)"
        "(?: (?:time|will|is|can|may|be|made|sent|allowed|available|possible|accepted|opens|starts)){0,4}",
        alone="point",
    ),
    Phrase("try-again", ("versuch",), "versuchen? (?:sie )?es(?: bitte| erneut){0,2}", joins="in|nach"),
    Phrase("try-again", ("essay",), "r[ée]essaye[rz]?", joins="dans"),
    Phrase("try-again", ("intent", "intént"), r"int[ée]nt[ae]\w{0,4}(?: de nuevo| otra vez)?", joins="en|dentro de"),
    Phrase("try-again", ("请", "請"), "(?:请|請)(?:在|于|於|等待)?", alone="length"),
    Phrase("model-loading", ("estimated_time",), r"estimated_time[\"']?", alone="seconds", needs=r"\bloading\b"),
    Phrase("flood-wait", ("flood_wait_",), "flood_wait_", alone="seconds"),
    Phrase("limit-reached", ("reached|",), r"limit reached\|", alone="point"),
    Phrase(
        "own-schedule",
        ("retry", "retri", "reconnect", "again", "next"),
        r"(?:retrying|retries|re-?connecting|trying again|next (?:retry|try|attempt)|re-?try(?= (?:attempt )?\(?#?\d)"
        rf"|(?:will|'ll)(?: automatically)? {_TRY}|auto(?:matically )?-?{_TRY}|(?:->|=>|→)\s{{0,2}}re-?try){_OBJECT}{_COUNTER}",
        joins="in|after|for|at",
        own=True,
    ),
    Phrase("own-schedule", ("backoff",), "backoff(?: time| period| delay)?", joins="for|of", alone="length", own=True),
    Phrase("own-schedule", ("backing off",), "backing off", joins="for", alone="length", own=True),
    Phrase(
        "own-schedule",
        ("wait", "sleep", "back off"),
        "(?:wait(?:ing)?|sleep(?:ing)?|back off)",
        joins="for",
        alone="length",
        then=r" (?:before|until|then) (?:the |next |we |a ){0,2}(?:re-?try|retries|next|trying|attempt)",
        own=True,
    ),
)
