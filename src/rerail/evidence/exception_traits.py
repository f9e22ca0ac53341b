"""The facts that one exception object carries beside its type and message.

Attributes were checked on raised exceptions of openai 3.57, anthropic 2.14, google-genai 3.6, google-api-core 2.44, litellm
1.110, cohere 7.3, mcp 2.3, pydantic-ai 2.68, botocore 1.44, httpx 0.28, httpx2 2.16, requests 2.34, urllib3 2.8, aiohttp 3.14,
tenacity 9.2, pydantic 2.14 and jsonschema 4.26. None is imported: attributes and class names tell.
"""

from __future__ import annotations

from errno import errorcode

from rerail.evidence.foreign import answer_of, class_values, first, is_a, mro_of, names_of, own_values, read
from rerail.evidence.json_facts import code_of, facts_of, facts_of_text
from rerail.evidence.response_facts import (
    RESPONSE_NAMES,
    ResponseFacts,
    body_in,
    facts_of_response,
    headers_in,
    status_in,
)
from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_os_errno = OSError.__dict__["errno"].__get__

_STATUS_NAMES = ("status_code", "http_status", "status", "code")
# Numbers count only in "code"; elsewhere they are counts and exit statuses.
_CODE_NAMES = ("error_code", "type", "error_type", "status", "reason", "error", "sqlstate", "pgcode", "validator")
_HEADER_NAMES = ("headers", "hdrs", "litellm_response_headers")
_BODY_NAMES = ("body", "json_body", "http_body", "content", "details", "doc")
_EXIT_NAMES = ("returncode", "return_code", "retcode", "exit_code", "exit_status", "status")
_COMMAND_NAMES = ("cmd", "command", "argv", "full_cmd", "args_list")
_STDOUT_NAMES = ("stdout", "output")
_MAX_VALIDATION_ERRORS = 50


class ProcessTraits(NamedTuple):
    """A finished or timed-out process that an exception tells of."""

    command: str | Sequence[object]
    exit_code: int | None
    """Negative for a signal, as `subprocess` counts."""
    stdout: str | bytes
    stderr: str | bytes
    timed_out: bool


class Traits(NamedTuple):
    """What one exception carries."""

    errno: str | None = None
    status: int | None = None
    codes: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: str | bytes | None = None
    body_unread: bool = False
    process: ProcessTraits | None = None
    inner_retries: int = 0
    """How often a layer below had tried again."""


_NO_TRAITS = Traits()


def traits_of(error: BaseException) -> Traits:
    """Return what *error* carries. Never raises; fetches nothing."""
    cls = type(error)
    if type(cls) is type and cls.__module__ == "builtins" and cls is not SystemExit and not own_values(error):
        # PERF: the way of nearly every exception of a program's own.
        return Traits(errno=_errno(error)) if issubclass(cls, OSError) else _NO_TRAITS
    # An attribute's value is foreign code too: even isinstance asks it.
    return answer_of(lambda: _read_traits(error)) or _NO_TRAITS


def _read_traits(error: BaseException) -> Traits:
    process = _process(error)
    response = first(error, RESPONSE_NAMES)
    answer = facts_of_response(response) if response is not None else ResponseFacts()
    body = body_in(first(error, _BODY_NAMES)) or answer.body
    status = answer.status if process else _status(error) or answer.status
    return Traits(
        errno=_errno(error),
        status=status,
        codes=tuple(code for code in _codes(error, answer.body or body) if code != str(status)) if not process else (),
        headers=_headers(error) or answer.headers,
        body=body,
        body_unread=response is not None and body is None and (status or 0) >= 400,
        process=process,
        inner_retries=_inner_retries(error, response),
    )


def _errno(error: BaseException) -> str | None:
    """Return the symbolic error number: ``ENOSPC``."""
    number = _os_errno(error) if is_a(error, OSError) else read(error, "errno")
    return errorcode.get(number) if isinstance(number, int) else None


def _status(error: BaseException) -> int | None:
    for name in _STATUS_NAMES:
        status = status_in(read(error, name), lowest=100 if name == "status_code" else 400)
        if status is not None:
            return status
    # The one property that is run: libraries often compute it from a response that they keep elsewhere.
    classes = map(class_values, mro_of(type(error)))
    declared = next((values["status_code"] for values in classes if "status_code" in values), None)
    if type(declared) is not property:
        return None
    return answer_of(lambda: status_in(declared.__get__(error), lowest=100))


def _headers(error: BaseException) -> tuple[tuple[str, str], ...]:
    headers = headers_in(first(error, _HEADER_NAMES))
    retry_after = read(error, "retry_after")
    if isinstance(retry_after, (int, float, str)) and not any(name == "retry-after" for name, _ in headers):
        headers += headers_in({"retry-after": retry_after})
    return headers


def _codes(error: BaseException, body: str | bytes | None) -> Iterator[str]:
    named = [read(error, "code"), *(value for name in _CODE_NAMES if is_a(value := read(error, name), str))]
    yield from filter(None, map(code_of, named))
    winerror = read(error, "winerror")
    if isinstance(winerror, int):
        yield f"WinError {winerror}"
    inner = read(error, "error")
    if inner is not None and not isinstance(inner, (str, BaseException)):
        # JSON-RPC (mcp) and OData (azure) keep the error as an object or a dict of its own.
        yield from facts_of(
            {"error": {name: read(inner, name) for name in ("code", "type", "status", "message")}}
        ).codes
    if body is not None:
        yield from facts_of_text(body, is_error=True).codes
    yield from _validation_codes(error)
    yield from _grpc_code(error)


def _validation_codes(error: BaseException) -> Iterator[str]:
    """Yield the types of pydantic's errors: ``missing``, ``int_parsing``."""
    if _is_of(error, "ValidationError", "pydantic"):
        errors: Any = error
        types = answer_of(lambda: [one["type"] for one in errors.errors()[:_MAX_VALIDATION_ERRORS]])
        yield from filter(None, map(code_of, types or ()))


def _grpc_code(error: BaseException) -> Iterator[str]:
    """Yield the status of a gRPC call: ``UNAVAILABLE``. Its ``code`` is a method."""
    if _is_of(error, "RpcError", "grpc"):
        call: Any = error
        code = code_of(answer_of(lambda: call.code().name))
        if code:
            yield code


def _is_of(error: BaseException, name_end: str, package: str) -> bool:
    """Whether a class of *error* is called so, in a module of that package."""
    names = map(names_of, mro_of(type(error)))
    return any(name.endswith(name_end) and module.startswith(package) for module, name in names)


def _process(error: BaseException) -> ProcessTraits | None:
    """Return the process that `subprocess`, plumbum, GitPython, invoke and their likes report, if *error* does."""
    if is_a(error, SystemExit):
        asked = read(error, "code")
        code = asked if isinstance(asked, int) else int(asked is not None)
        return ProcessTraits((), code, "", "", timed_out=False)
    return _process_in(error) or _process_in(read(error, "result"))  # invoke keeps it in a result


def _process_in(holder: object) -> ProcessTraits | None:
    stderr = read(holder, "stderr")
    stdout = first(holder, _STDOUT_NAMES)
    command = first(holder, _COMMAND_NAMES)
    code = first(holder, _EXIT_NAMES)
    has_ended = isinstance(code, int) and not isinstance(code, bool)
    timed_out = not has_ended and command is not None and isinstance(read(holder, "timeout"), (int, float))
    if not (has_ended or timed_out) or (command is None and not isinstance(stderr, (str, bytes))):
        return None
    return ProcessTraits(
        command if isinstance(command, (str, list, tuple)) else (),
        int(code) if has_ended else None,
        stdout if isinstance(stdout, (str, bytes)) else "",
        stderr if isinstance(stderr, (str, bytes)) else "",
        timed_out,
    )


def _inner_retries(error: BaseException, response: object) -> int:
    """Return how often the SDK had tried again by itself, where it says so."""
    metadata = read(response, "ResponseMetadata") if type(response) is dict else None
    if type(metadata) is dict:
        attempts = metadata.get("RetryAttempts")
        return attempts if isinstance(attempts, int) else 0
    # openai, anthropic and other SDKs made by the same generator count in a header of the request.
    headers = read(first(error, ("request", "_request")), "headers")
    if headers is None:
        return 0
    return answer_of(lambda: int(headers.get("x-stainless-retry-count") or 0)) or 0
