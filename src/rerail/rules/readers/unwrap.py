"""Facts inside text: codes, statuses, types and messages that a line carries in data, in quotes or in words.

Linear patterns over one line; nothing is parsed as a whole, because what a failing tool prints is often cut, quoted inside
itself, or Python's ``repr`` rather than JSON. Bare digits are never a status: they need words of HTTP around them.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.rules.readers import errno_texts, errnos
from rerail.rules.readers.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SAID = 2_048
"""Characters of a sentence in which a status is looked for."""
MAX_LINE = 16_384
"""Characters of a line that are looked at; a longer one is looked at from both ends."""

_QUOTE = r"\\{0,8}[\"']"
_PAIR = lazy(
    rf"{_QUOTE}(code|type|status|reason|name|__type|errorCode|error_code|errorcode|error_type|err_code|ECODE|errorType|error|statusCode|status_code|httpStatusCode|"
    rf"HTTPStatusCode|http_status|title|Code|Type|errno)"
    rf"{_QUOTE}\s{{0,4}}:\s{{0,4}}(?:{_QUOTE}([^\"'\\]{{1,120}})|(-?\d{{1,9}})\b)"
)
"""``"code": "x"`` in JSON, in JSON inside JSON, and in ``repr``: the key and its short value."""
_INSPECTED = lazy(
    r"^(?:npm error )?\s*+\$?(code|status|statusCode|name|type|errno|__type|reason): '?([\w.\-]{1,80})'?,?$"
)
"""A property on a line of its own, as Node prints an error: ``code: 'ECONNREFUSED',``."""
_STATUS_KEYS = frozenset(
    {"code", "status", "statusCode", "status_code", "httpStatusCode", "HTTPStatusCode", "http_status", "error"}
)
_CODE_KEYS = frozenset(
    {
        "code",
        "type",
        "status",
        "reason",
        "name",
        "__type",
        "errorCode",
        "error_code",
        "errorcode",
        "error_type",
        "err_code",
        "ECODE",
        "errorType",
        "error",
        "Code",
        "Type",
    }
)

_DIGITS = lazy(
    r"[45](?<![\w.\-][45])\d\d(?![\w%]|[.,]\d| (?:bytes?|[kKMG]i?B|ms|s|seconds?|items?|files?|tests?|lines?|rows?)\b)"
)
_BEFORE_CHARS, _AFTER_CHARS, _MOST_DIGITS = 48, 40, 32
_BEFORE = lazy(r"""(?ix)
    (?: \bHTTP(?:S|/\d(?:\.\d)?)?[\s:=(\-]{1,3}(?:(?:status|error|code|response|exception)[\s:=]{1,3}){0,2}
      | \bstatus(?:[\s_\-]?code)?["']?(?:\s(?:is|was|of|code))?[\s:=("']{1,4}
      | \b(?:returned|responded|replied|failed|answered)(?:\swith)?(?:\san?)?
          (?:\s(?:error|HTTP|status|code|response)){0,3}[\s:]{1,3}\(?
      | \b(?:API|server|client|provider|upstream|gateway|request|unexpected|response|URL)\s
          (?:request\s)?(?:error|failed)[\s:]{1,3}\(?
      | \b(?:error|response)\scode(?:\s(?:is|was|of|returned))?[\s:]{1,3}
      | (?:Bad\sRequest|Unauthorized|Payment\sRequired|Forbidden|Not\sFound|Conflict|Too\sLarge|Unprocessable\s(?:Entity|Content)|
          Too\sMany\sRequests|Internal\sServer\sError|Bad\sGateway|Service\sUnavailable|Gateway\sTime-?out)\s[(\[]
      | ^\s*Code:\s | Error:\s\[ | <(?:title|h1)>\s? | \bHTTP\b.{0,30},\sgot\s
      | \b(?:API|Http|Status|RateLimit|PermissionDenied|Authentication|NotFound|BadRequest|Server|Client|Conflict|Response|
          Provider|UnprocessableEntity)\w{0,24}(?:Error|Exception):\s
    )$""")
"""Words of HTTP right before a status."""
_AFTER = lazy(r"""(?ix)
    [)\s\-:,(]{1,3}(?:Bad\sRequest|Unauthorized|Authorization\sRequired|Payment\sRequired|Forbidden|Not\sFound|Method\sNot\sAllowed|
      Not\sAcceptable|Proxy\sAuthentication\sRequired|Request\sTime-?out|Conflict\b|Gone\b|Length\sRequired|Precondition\sFailed|
      (?:Request\sEntity|Payload|Content)\sToo\sLarge|URI\sToo\sLong|Unsupported\sMedia\sType|Unprocessable|Failed\sDependency|
      Upgrade\sRequired|Precondition\sRequired|Too\sMany\sRequests|Request\sHeader\sFields\sToo\sLarge|
      Unavailable\sFor\sLegal\sReasons|Internal\sServer\sError|Not\sImplemented|Bad\sGateway|Service\s(?:Temporarily\s)?Unavailable|
      Gateway\sTime-?out|Insufficient\sStorage|Overloaded|Client\sError|Server\sError|error\sresponses)
    | ,\s?message=['"](?!Not\senough|Bad\sstatus)""")
"""A reason phrase right after one."""
_BODY_AFTER = lazy(r"\s?\{|\s(?:None|[A-Z_]{2,30})\.\s\{|\s[a-z]{2,20}(?:_[a-z]{2,20}){1,3}:\s")
_ERROR_BEFORE = lazy(r"(?:^|(?i:error)[:\s]{1,3}\(?|attempts: |\S: )$")
_RAISED_WITH = lazy(
    r"\b(?!Key|Index|Value|Assertion)[A-Z]\w{2,50}(?:Error|Exception)(?:\$\w{2,40})?: \[?$|\[Errno $|\b[A-Z]{3,7} \S{1,40}: \[$"
)
"""What stands before a status where a client's exception begins with it, passes it off as an errno, or names the request."""
_SAID_AFTER = lazy(r"\]?:? [\[({<\"'A-Za-z]")
_FAILED_BEFORE = lazy(r"(?i)\b(?:failed|unable|cannot|could not)(?: to)? [\w ]{1,36}: \(?$")
_ALONE = lazy(
    r"(?i)^\W{0,3}(?:(?:HTTP|API|status|code|error|err|response|server|got|returned|with|an?|the)\W{1,3}){0,4}([45]\d\d)"
    r"(?:\W{0,3}$|(?::| -) [a-z\"'{<])"
)
_ERROR_STATUS = r"(40[0-9]|41[0-8]|42[1-9]|431|451|50[0-9]|52[0-9]|530)"
_COUNTED = (
    "(?:files?|tests?|lines?|items?|rows?|[kKMG]?i?[bB](?:ytes?)?|ms|s|sec|seconds?|minutes?|times?|users?|records?|modules?"
    "|warnings?|tokens?|requests?|calls?|characters?|chars|words?|pages?|points?|px|results?|entries|messages?)"
)
_TOLD = lazy(
    r"(?i)\b(?:got|gets?|getting|gave|gives?|giving|says?|said|saw|sees?|seeing|hits?|hitting|receive[sd]?|receiving"
    r"|answer(?:s|ed|ing)?|repl(?:y|ies|ied)|return(?:s|ed|ing)?|throws?|threw|throwing|fail(?:s|ed|ing)?|end(?:s|ed)?|died|with"
    r"|keeps?|kept|an?|HTTP|status)(?: (?:me|us|with|back|an?|on|as|in|many|repeated|HTTP|status|error|code)){0,3}:? \(?"
    rf"{_ERROR_STATUS}s?\b(?![.,:]\d|%|[ -]{_COUNTED}\b)"
    rf"|(?<![\w.#$:-]){_ERROR_STATUS}(?:s? (?:from|by|since|for|while|when|during|responses?|on (?:every|each|all)|again)|'d)\b"
)
"""A status in prose: ``each attempt ended with a 502 response``, ``503 from upstream``."""
_RESPONSE_HEAD = lazy(r"^HTTP/\d(?:\.\d)? ([1-5]\d\d)(?: |$)")
_AWS = lazy(r"\bAn error occurred \(([\w.]{1,80})\)")
_NAMED_CODE = lazy(
    r"^(?:.{0,40}?[ :])?([a-z]{2,20}(?:_[a-z]{2,20}){1,4}|[A-Z][A-Z]{2,20}(?:_[A-Z]{2,20}){1,4})(?=:? |$)"
)
"""A code in front of its message: ``overloaded_error: Overloaded``, ``ERROR: RESOURCE_EXHAUSTED: quota``."""
_LABELLED = lazy(
    r"\b(?:[Ee]rror ?(?:[Cc]ode|ID|type)|error_code|errorCode|ErrorCode)[:=] ?[\"']?([A-Za-z_][\w.\-]{2,80})|"
    r"^(?:\S{1,30} )?[45]\d\d ([A-Z][a-z]+(?:[A-Z][a-z]+){1,6}): |"
    r"\(([a-z]{3,20}(?:_[a-z]{2,20}){1,4})(?:, [^()]{1,40})?\)|\bcode:([A-Z]\w{2,40}(?:\.\w{2,60})?) |"
    r"\(([a-z]{3,20}/[a-z]{2,20}(?:-[a-z]{2,20}){1,5})\)|"
    r"^(?:ERROR: )?\(([A-Z][a-z]+(?:[A-Z][a-z0-9]+){1,8})\) |"
    r"\b[Ss]tatus[:=] ?([A-Z]{3,20}(?:_[A-Z]{2,20}){1,3})\b"
)
"""A code with a word before it that says so, after a status, or in brackets before its message."""
_NPM = lazy(r"^(?:npm|pnpm|yarn) (?:error|ERR!) code (E?[A-Z0-9_]{3,40})$|\b(ERR_[A-Z0-9_]{3,60})\b")
_GRPC = lazy(r"\b(?:StatusCode\.|code = |rpc error: code = )([A-Z][A-Za-z_]{1,30})\b")
_JSON_RPC = lazy(r"(?:\b[Ee]rror:? |\bcode:? ?|\(Code )(-32\d\d\d)\b")
_ERRNO = lazy(
    r"\[(Errno|WinError) (-?\d{1,5})\]|\((?:os error|errno) (\d{1,5})\)|(?<![\w/.\-])(E[A-Z][A-Z0-9_]{2,14})(?![\w/.\-])"
)
_CAPITALS = lazy(r"E[A-Z]{2}")
_EXIT_STATUS = lazy(
    r"(?i)\bexit(?:ed)?(?: with)?(?: a)?(?: non-?zero)?(?: exit)? (?:code|status)[:=]? {0,8}\(?(\d{3})\b|"
    r": \*\*\* \[.{1,200}\] Error (\d{3})\b|"
    r"^exit(?:ed)? (\d{3})$|: (?:exit|FAIL code) (\d{3}) \(|\bExitCode=(\d{3})\b|\bexitCode[\"']?: (\d{3})\b"
)
"""Another program's exit status, from 124 up: lower ones mean what that program wants them to mean."""
_SIGNAL = lazy(
    r"\bsignal[:=\s]{1,2}[\"']?(SIG[A-Z]{2,6})\b|\((SIG[A-Z]{2,6})\)|\b(?:by (?:signal )?|Signals\.)(SIG[A-Z]{2,6})\b"
)
_RAISED = lazy(r"\braised ([A-Z]\w{2,60})>")
"""What a spent retry's future says it ended with."""
_MESSAGE = lazy(
    rf"{_QUOTE}(?:message|msg|error|detail|text|reason|title|permissionDecisionReason|error_message|error_msg|faultstring|description|err|Message){_QUOTE}\s{{0,4}}:\s{{0,4}}(\\{{0,8}})([\"'])"
)
_CAUSED = lazy(r"(?:\(Caused by |\bCaused by: |\bcaused by: |\blast error: |\bcause: |\breason: )(.{3,2000})")
_ESCAPED = lazy(r"\\+(.)")
_MAX_MESSAGE = 4_000


def _has_pairs(line: str) -> bool:
    """Tell whether a quoted key can stand in a line: most lines hold none, and a search for keys is slow."""
    return '":' in line or "':" in line or '" :' in line or "' :" in line


def facts(line: str) -> Iterator[tuple[str, str]]:
    """Yield ``(kind, value)`` for every fact that a line states; see `rerail.rules.readers.model.Fact`."""
    if len(line) > MAX_LINE:
        line = line[: MAX_LINE // 2] + " " + line[-MAX_LINE // 2 :]
    # Each pattern is tried only where what it cannot do without is there: most lines state nothing.
    if _has_pairs(line):
        for key, text, number in _PAIR.findall(line):
            yield from _of_pair(key, text or number)
    if ": " in line and (inspected := _INSPECTED.match(line)):
        yield from _of_pair(inspected[1], inspected[2])
    if "4" in line or "5" in line:
        for status in _statuses(line):
            yield "status", status
    if "error occurred (" in line:
        for code in _AWS.findall(line):
            yield "code", code
    if "code = " in line or "StatusCode." in line:
        for code in _GRPC.findall(line):
            yield "code", code
    if "r code " in line or "! code " in line or "ERR_" in line:
        for codes in _NPM.findall(line):
            yield "code", codes[0] or codes[1]
    if "-32" in line:
        for code in _JSON_RPC.findall(line):
            yield "code", code
    if "_" in line and (named := _NAMED_CODE.match(line)):
        yield "code", named[1]
    if _may_label(line) and (labelled := _LABELLED.search(line)):
        yield "code", next(filter(None, labelled.groups()))
    yield from _of_system(line)


def _statuses(line: str) -> Iterator[str]:
    """Yield statuses that stand in words of HTTP: ``returned error: 403``, ``429 Too Many Requests``, ``Error: 529 {...``."""
    for count, digits in enumerate(_DIGITS.finditer(line)):
        if count == _MOST_DIGITS:
            return
        before = line[max(0, digits.start() - _BEFORE_CHARS) : digits.start()]
        after = line[digits.end() : digits.end() + _AFTER_CHARS]
        if (
            _BEFORE.search(before)
            or _AFTER.match(after)
            or (_ERROR_BEFORE.search(before) and _BODY_AFTER.match(after))
            or (before.endswith("ERROR ") and after.startswith(": "))
            or (_SAID_AFTER.match(after) and _RAISED_WITH.search(before))
            or (not after.strip(" .)") and _FAILED_BEFORE.search(before))
        ):
            yield digits[0]


def _of_pair(key: str, value: str) -> Iterator[tuple[str, str]]:
    if key == "errno":
        name = value if value in errnos.NAMES else errnos.by_libuv(int(value)) if value.lstrip("-").isdigit() else None
        if name:
            yield "errno", name
    elif key in _STATUS_KEYS and len(value) == 3 and value.isdigit() and value[0] in "45":
        yield "status", value
    elif value in errnos.NAMES:
        yield "errno", value
    elif key in _CODE_KEYS and " " not in value and not value.isdigit():
        yield "code", value


def _of_system(line: str) -> Iterator[tuple[str, str]]:
    """Yield error numbers, exit statuses and signals."""
    for kind, number, plain, symbol in _ERRNO.findall(line) if _may_name_errno(line) else ():
        name = symbol if symbol in errnos.NAMES else None
        if not symbol and "nodename nor servname" not in line:
            name = errnos.by_number(int(number or plain), windows=kind == "WinError")
        if name:
            yield "errno", name
    if said := errno_texts.error_said(line):
        yield "errno", said
    if "xit" in line or "] Error 1" in line or "FAIL code" in line:
        for statuses in _EXIT_STATUS.findall(line):
            status = next(filter(None, statuses))
            if 124 <= int(status) <= 255:
                yield "exit_code", status
    if "SIG" in line:
        for names in _SIGNAL.findall(line):
            yield "signal", next(filter(None, names))
    if "raised" in line:
        for name in _RAISED.findall(line):
            yield "exception", name


def _may_label(line: str) -> bool:
    start = line[:34]  # a status stands in front
    return "(" in line or "ode" in line or "ID" in line or "ype" in line or "4" in start or "5" in start


def _may_name_errno(line: str) -> bool:
    return (
        ("E" in line and _CAPITALS.search(line) is not None) or "rrno" in line or "WinE" in line or "os error" in line
    )


def response_status(line: str) -> int | None:
    """Return the status of an HTTP response's first line, such as ``curl -i`` prints it; None for any other line."""
    head = _RESPONSE_HEAD.match(line)
    return int(head[1]) if head else None


def lone_status(message: str) -> str | None:
    """Return the status that a message of one line tells of: ``502``, ``403: Not yours``, ``the registry gave me a 503``."""
    told = _ALONE.match(message) or _TOLD.search(message[:MAX_SAID])
    return next(filter(None, told.groups())) if told else None


def messages(line: str) -> Iterator[str]:
    """Yield the messages that a line wraps: unescaped values of message keys, and what follows words like ``Caused by``."""
    if len(line) > MAX_LINE:
        line = line[:MAX_LINE]
    if _has_pairs(line):
        for opening in _MESSAGE.finditer(line):
            escape, quote = opening[1], opening[2]
            end = _closing(line, opening.end(), escape, quote)
            text = line[opening.end() : min(end, opening.end() + _MAX_MESSAGE)]
            if "\\" in text:
                text = _unescaped(text)
            yield text
    if "aused by" in line or "last error" in line or "cause: " in line or "reason: " in line:
        for caused in _CAUSED.findall(line):
            yield caused.strip("()'\" ")


def _closing(line: str, start: int, escape: str, quote: str) -> int:
    """Return where a quoted value ends: at its quote, escaped exactly as the opening one was."""
    place = start
    while (place := line.find(escape + quote, place)) != -1:
        before = place - 1
        slashes = 0
        while before >= start and line[before] == "\\":
            slashes += 1
            before -= 1
        if slashes == 0:
            return place
        place += len(escape) + 1
    return len(line)


def _unescaped(text: str) -> str:
    # Enough for reading: escapes of quotes and newlines, at any depth of nesting; the line itself is what is cited.
    return _ESCAPED.sub(lambda found: {"n": "\n", "t": "\t", "r": ""}.get(found[1], found[1]), text)
