"""The phrasebook: what validators say, as patterns. Data only; `phrases` reads with it.

From: pydantic, jsonschema, ajv 6 and 8, zod 3 and 4, MCP servers, OpenAI, Anthropic, Gemini, botocore, FastAPI, serde, Go's JSON
and MCP packages, msgspec, marshmallow, cerberus, voluptuous, fastjsonschema, joi, yup, valibot, TypeBox, Django REST, Laravel,
Python's own calls, and plain prose such as "missing required field: x".

Groups of a pattern: ``place`` what is wrong, ``where`` the object that the field is of, ``name`` one field, ``list`` where
names or values begin, ``plural`` whether there may be several, ``type`` types, ``got`` and ``bare`` what came. Every
pattern is linear in its line.
"""

from __future__ import annotations

from typing import NamedTuple

from rerail.handlers.repair.model import Kind

_SIZED = (f"{sign}{bits}" for sign in ("i", "u", "int", "uint") for bits in (8, 16, 32, 64, 128))
_TYPE_WORDS = {
    "string": ("string", "str", "text", "char"),
    "integer": ("integer", "int", "long", "usize", "isize", "uint", *_SIZED),
    "number": ("number", "float", "double", "decimal", "numeric", "f32", "f64", "float32", "float64"),
    "boolean": ("boolean", "bool"),
    "array": ("array", "list", "sequence", "tuple", "set", "vec", "slice"),
    "object": ("object", "dictionary", "dict", "map", "mapping", "struct", "record", "hash"),
    "null": ("null", "none", "nonetype", "nil"),
}
TYPE_OF = {word: name for name, words in _TYPE_WORDS.items() for word in (*words, f"{words[0]}s")}
"""The JSON Schema type that a word means, whatever language it comes from."""

# A path begins where its characters begin, so that no run of them is tried twice.
_PATH = r"(?<![\w$@./~*\]-])[\"'`]?(?P<%s>(?:[\w$@/.~*-]|\[[^\[\]\n]{0,80}\]){1,200})[\"'`]?"
PLACE = _PATH % "place"
_WHERE = _PATH % "where"
_NAME = r"(?<![\w$@.:/\]-])[\"'`]?(?P<name>[\w$@][\w$@.:/\[\]-]{0,199})[\"'`]?"
_BARE = r"[\"'`]?(?P<bare>[\w$@][\w$@.:/-]{0,199})[\"'`]?"
_LIST = r"(?P<list>)"
_WORD = "|".join(sorted(TYPE_OF, key=len, reverse=True))
_LEAD = r"(?:an?\s|one of\s|of\s|type\s|valid\s|class\s|[`'\"<(]){0,6}"
_TYPE = rf"(?P<type>{_LEAD}(?:{_WORD})\b(?:[`'\">]{{0,2}}(?:\s?[,|/]\s?|\s?\bor\s|\sof\s){_LEAD}(?:{_WORD})\b){{0,6}})"
_GOT = r"(?P<got>'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|-?\d[\d.]{0,30}|True|False|None|true|false|null)"
_NOUN = (
    r"(?:(?:body|query|path|input|request|tool|creator|keyword|positional|keyword-only|required|mandatory)\s){0,3}"
    r"(?:property|propert(?=ies)|field|parameter|param|argument|arg|key|keyword|input|option|attribute|member)"
    r"(?P<plural>ies|s|\(s\))?"
)
_NOT = "(?:unknown|unrecognized|unrecognised|unsupported|unspecified)"
_MUST_BE = r"(?<!input )\b(?:must|should) be"
_GO_STRUCT = r"\bcannot unmarshal \w{1,20} into Go struct field \w{0,80}\."


class Phrase(NamedTuple):
    """One way to say one kind of complaint."""

    kind: Kind
    needle: str
    """Lower-case text without which the pattern cannot match."""
    pattern: str
    """Case is ignored."""


_MISSING = (
    ("missing", rf"\bmissing (?:\d{{1,4}} |the |an? |following ){{0,2}}{_NOUN}\b(?: in {_WHERE})?\s?[:=]?\s?{_LIST}"),
    ("required", rf"(?<!valid ){_NAME}(?:\s{_NOUN})?\s(?:is|are)\s(?:an?\s)?(?:required|mandatory)\b"),
    ("missing", rf"{_NAME}(?:\s{_NOUN})?\s(?:is|are)\smissing\b"),
    ("required", rf"(?:{_WHERE}:?\s)?\b(?:must|should) have required propert(?:y|(?P<plural>ies))\s?{_LIST}"),
    ("field required", rf"(?:{PLACE}:\s)?\bfield required\b"),
    ("required", r"^\W{0,3}required(?: field)?\W{0,2}$"),
    ("required at ", r"\brequired(?= at )"),
    ("required", r"\brequired key not provided|\bmissing data for required field|\bexpected required property"),
    ("received undefined", r"\bexpected [^,\n]{1,80}, received undefined\b"),
    ("but received undefined", rf"\binvalid key: expected {_NAME} but received undefined\b"),
    ("must contain", rf"{_WHERE} must contain \[{_LIST}"),
    ("is a dependency of", rf"{_NAME} is a dependency of\b"),
    ("must provide a", rf"\bmust provide an? {_NAME} {_NOUN}\b"),
)

_OF_TYPE = (
    ("input should be", rf"(?:{PLACE}:\s)?\binput should be {_TYPE}"),
    (" be ", rf"(?:{PLACE}:?\s)?{_MUST_BE} {_TYPE}"),
    ("is not of type", rf"{_GOT} is not of types? {_TYPE}"),
    ("expected", rf"\bexpected {_TYPE}[`'\">]{{0,2}}, (?:received|got) (?!undefined)[^\s,;]{{1,60}}"),
    ("expected", rf"^\W{{0,3}}expected {_TYPE}\W{{0,2}}$"),
    ("expected", rf"\bexpected {_TYPE} but received (?!undefined)[^\s,;]{{1,60}}"),
    ("expected", rf"\bexpected {_TYPE} for [a-z]{{1,20}}(?: [a-z]{{1,20}})?(?=\s@)"),
    ("invalid type for", rf"\binvalid type for {PLACE}:? expected {_TYPE}"),
    ("valid types", rf"\binvalid type for parameter {PLACE}, value: [^\n]{{1,300}}?, valid types: {_TYPE}"),
    ("type is expected as", rf"{PLACE} type is expected as {_TYPE}"),
    ("go struct field", _GO_STRUCT + r"(?P<name>[\w.]{1,200}) of type (?P<go>\[\]|map\[|\w{1,20})"),
    ("has type", rf"\bvalidating {PLACE}:? type: [^\n]{{1,300}}? has type \"\w{{1,20}}\", want {_TYPE}"),
    ("invalid value at", rf"\binvalid value at {PLACE} \(TYPE_(?P<type>{_WORD})\)"),
    ("invalid type:", rf"(?:{PLACE}:?\s)?\binvalid type: [a-z ]{{1,20}} {_GOT}, expected {_TYPE}"),
    ("type expected", rf"(?:{PLACE}:\s)?\b{_TYPE} type expected\b"),
    ("valid", rf"\bnot a valid {_TYPE}|\ba valid (?P<also>{_WORD}) is required"),
)

_VALUE = (
    ("is not one of", rf"{_GOT} is not one of {_LIST}"),
    ("input should be", rf"(?:{PLACE}:\s)?\binput should be {_LIST}(?=['\"])"),
    ("one of", rf"(?:{PLACE}:?\s)?{_MUST_BE} (?:equal to )?one of(?: the (?:following|allowed) values)?:?\s?{_LIST}"),
    ("invalid value", rf"\binvalid value: {_GOT}\.? (?:supported values are|value must be one of):? {_LIST}"),
    ("invalid enum value", rf"\binvalid enum value\. expected {_LIST}"),
    ("invalid enum value", rf"\binvalid enum value {_GOT}"),
    ("expected one of", rf"\binvalid option: expected one of {_LIST}"),
    ("expected", rf"\binvalid (?:input:|literal value,) expected {_LIST}(?=[\"'])"),
    ("but received", rf"\binvalid type: expected \(?{_LIST}(?=\")[^\n]{{1,300}}? but received {_GOT}"),
    ("unknown variant", rf"\bunknown variant {_GOT}, expected (?:one of )?{_LIST}"),
    ("is not a valid choice", rf"{_GOT} is not a valid choice"),
    ("permitted: ", rf"\bpermitted: {_LIST}"),
    ("was expected", rf"(?:^|: ){_LIST}(?=['\"\d]).{{1,200}} was expected$"),
)

_UNKNOWN = (
    ("properties are not allowed", rf"\b(?:additional|unevaluated) properties are not allowed \({_LIST}"),
    ("match any of the regexes", rf"(?:^|: ){_LIST}(?=['\"]).{{1,400}} do(?:es)? not match any of the regexes"),
    ("not permitted", rf"(?:{PLACE}:\s)?\bextra (?:inputs are|fields) not permitted"),
    ("unexpected", rf"\bunexpected {_NOUN}\s?:?\s?{_LIST}"),
    ("un", rf"\b{_NOT} {_NOUN}(?: supplied| in (?:object|{_WHERE}))?\s?:?\s?{_LIST}"),
    ("cannot find field", rf"\bunknown name {_NAME}(?: at {_WHERE})?:? cannot find field"),
    ("is not allowed", rf"{_NAME} is not allowed\b"),
    ("must not contain", rf"{_WHERE} must not contain \{{{_LIST}"),
    ("extra keys not allowed", r"\bextra keys not allowed"),
)

_NAMES = (
    ("unknown", rf"\bunknown (?:tool|function|method|model|action|operation)(?: name)?\s?:?\s{_BARE}"),
    ("no such", rf"\bno such (?:tool|function|model)(?: available)?\s?:?\s{_BARE}"),
    ("not found", rf"\b(?:tool|function|method|model)(?: named)? {_BARE} (?:was )?not found"),
    ("does not exist", rf"\b(?:tool|function|method|model)(?: named)? {_BARE} does not exist"),
)

PHRASES: tuple[Phrase, ...] = tuple(
    Phrase(kind, needle, pattern)
    for kind, rows in (
        (Kind.MISSING, _MISSING),
        (Kind.TYPE, _OF_TYPE),
        (Kind.VALUE, _VALUE),
        (Kind.UNKNOWN, _UNKNOWN),
        (Kind.NAME, _NAMES),
    )
    for needle, pattern in rows
)

NO_NAMES = frozenset(
    [
        "a",
        "an",
        "and",
        "any",
        "are",
        "at",
        "be",
        "but",
        "expected",
        "field",
        "for",
        "from",
        "in",
        "instead",
        "is",
        "it",
        "object",
        "of",
        "on",
        "one",
        "or",
        "parameter",
        "property",
        "provided",
        "received",
        "request",
        "required",
        "supplied",
        "that",
        "the",
        "this",
        "to",
        "valid",
        "was",
        "were",
        "which",
        "with",
        "you",
    ]
)
"""Words that stand where a name could, and are none unless they are quoted or follow a colon."""

NO_PLACES = frozenset({"input", "value", "it", "this", "field", "type"})
"""Words that stand for the place that is spoken of, and name none."""
