"""What a secret's value looks like, and what only stands where one could: placeholders, code, the words of an error message."""

from __future__ import annotations

from rerail.evidence.lazy import compiled

LONGEST_PROSE_CHARS = 512
"""No value of an error message that must stay is longer; a longer run is taken for a secret."""

_SHORTEST = 3
_LONGEST_WORD = 20

# The words that follow a secret's name in the message of a validator, a type annotation, a default or a help text.
_NOT_VALUES = frozenset(
    """
    a an and any are argument array as at be blank bool boolean but bytes can cannot char configured could default denied
    deprecated disabled does doesn't empty enabled env environment error expected expired failed failure false field flag for
    from found given has have hidden if in incorrect input int integer invalid is it length list malformed masked may mismatch
    missing must need needs nil no none not null number object of on option optional or parameter provided rejected required
    revoked should str string supplied text that the this to too true undefined unset unknown unsupported until use using valid
    value varchar variable was when with without wrong yes your
    api_key apikey auth basic bearer credential credentials digest key passwd password secret token
    forbidden unauthenticated unauthorized
    """.split()  # noqa: SIM905  words are easier to read than seventy literals
)
_PROSE = (
    r"(?i)(?<![\w-])(?:is|are|was|be|must|should|may|can|cannot|not|no|invalid|required|missing|expired|field|least|than|too"
    r"|blank|empty|null|incorrect|wrong|does|failed|denied|please|provided|valid|the|this|your|for|to|of|has|have)(?![\w-])"
)
_MASK = "*x\u2022\u25cf.X#-_?\u2026"
# An expression that yields a secret (getpass(), os.environ["X"], self.token), or an error's name.
_CODE = (
    r"(?s:[A-Za-z_]\w{0,40}(?:\.[a-z_]\w{0,24}){1,8}"
    r"|[A-Za-z_]\w{0,40}(?:\.[A-Za-z_]\w{0,40}){0,8}[(\[].*"
    r"|[A-Za-z_.]{0,80}(?:Error|Exception|Failure))"
)
# Eight characters or more, none a space, with a digit and a letter.
_RANDOM = r"(?=\S{8,}+\Z)(?=[^0-9]*+[0-9])[^A-Za-z]*+[A-Za-z]"


def is_secret(value: str, *, always: bool) -> bool:
    """Return whether *value* is a secret, given the name it has.

    Args:
        value: What stands beside the name, without its quotes.
        always: The name holds nothing but secrets (``password``); else only a random-looking value is one (``token``).
    """
    value = value.strip()
    is_random = _is_random(value)
    if not is_random and (not always or len(value) < _SHORTEST or (value.isdigit() and len(value) == _SHORTEST)):
        return False
    if is_placeholder(value) or is_word(value) or compiled(_CODE).fullmatch(value):
        return False
    return not (" " in value and compiled(_PROSE).search(value))


def is_word(value: str) -> bool:
    """Return whether *value* is a word of an error message rather than a value."""
    return value.lower().strip(".,:;!?'\"()") in _NOT_VALUES


def is_placeholder(value: str) -> bool:
    """Return whether *value* stands for a secret instead of being one: ``[redacted:token]``, ``****``, ``${TOKEN}``."""
    first, second = value[:1], value[1:2]
    if first in "[<{(":
        return True
    if first == "$":
        return second in ("{", "(") or value[1:].replace("_", "").isupper()
    if first == "%":
        return second in ("(", "s", "d") or value.endswith("%")
    return not value.strip(_MASK)


def looks_random(value: str) -> bool:
    """Return whether *value* looks generated: eight or more characters without a space, with letters and digits; or very long."""
    return _is_random(value) and not is_placeholder(value) and compiled(_CODE).fullmatch(value) is None


def is_user_and_password(value: str) -> bool:
    """Return whether *value* is base64 of ``user:password``."""
    from binascii import Error, a2b_base64

    try:
        return b":" in a2b_base64(value + "=" * (-len(value) % 4))
    except (Error, ValueError):
        return False


def _is_random(value: str) -> bool:
    if len(value) >= _LONGEST_WORD and (value.isalpha() or (len(value) > LONGEST_PROSE_CHARS and " " not in value)):
        return True
    return compiled(_RANDOM).match(value) is not None
