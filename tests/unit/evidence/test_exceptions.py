"""An exception as evidence: its chain, its facts, and nothing of the live objects."""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import subprocess
import sys
import time
import weakref
from typing import Any

import jsonschema
import pydantic
import pytest
import tenacity
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.evidence.lookalikes import Headers, Namespace, ReadResponse, UnreadResponse, class_like, error_like

from rerail.evidence import notes
from rerail.evidence.exceptions import from_exception
from rerail.evidence.model import Evidence, Link, StreamName

BILLING = {
    "message": "You exceeded your quota",
    "type": "insufficient_quota",
    "param": None,
    "code": "insufficient_quota",
}


def raised(error: Exception, *, cause: Exception | None = None) -> Exception:
    try:
        if cause is None:
            raise error
        raise error from cause
    except Exception as caught:
        return caught


def links(evidence: Evidence) -> list[tuple[str, str]]:
    return [(fact.link.value, fact.types[0]) for fact in evidence.exceptions]


def said(evidence: Evidence) -> str:
    stream = evidence.stream(StreamName.MESSAGE)
    return stream.text if stream else ""


def test_a_plain_exception_is_its_type_and_message() -> None:
    evidence = from_exception(raised(ValueError("bad value")))
    (fact,) = evidence.exceptions
    assert fact.link is Link.RAISED
    assert fact.types == ("ValueError", "Exception", "BaseException")
    assert fact.message == said(evidence) == "bad value"
    assert (evidence.http_status, evidence.codes, evidence.notes) == (None, (), ())


def test_types_are_named_as_a_traceback_names_them_along_the_mro() -> None:
    class Local(ConnectionResetError):
        pass

    names = from_exception(Local()).exceptions[0].types
    assert names[0].endswith(
        "test_exceptions.test_types_are_named_as_a_traceback_names_them_along_the_mro.<locals>.Local"
    )
    assert names[1:] == ("ConnectionResetError", "ConnectionError", "OSError", "Exception", "BaseException")
    assert from_exception(json.JSONDecodeError("no", "", 0)).exceptions[0].types[:2] == (
        "json.decoder.JSONDecodeError",
        "ValueError",
    )


def test_the_system_s_error_number_gets_its_name() -> None:
    with pytest.raises(OSError, match="No such file") as missing:
        open("/no/such/file")  # noqa: PTH123, SIM115
    evidence = from_exception(missing.value)
    assert evidence.exceptions[0].errno == "ENOENT"
    assert "/no/such/file" in said(evidence)
    assert from_exception(OSError(errno.ENOSPC, "full")).exceptions[0].errno == "ENOSPC"
    assert from_exception(OSError("no number")).exceptions[0].errno is None


def test_causes_and_contexts_are_followed_from_the_outside_in() -> None:
    inner = raised(TimeoutError("slow"))
    middle = raised(KeyError("x"), cause=inner)
    try:
        try:
            raise middle
        except KeyError:
            raise RuntimeError("outer")  # noqa: B904  the context is what is tested
    except RuntimeError as error:
        evidence = from_exception(error)
    assert links(evidence) == [("raised", "RuntimeError"), ("context", "KeyError"), ("cause", "TimeoutError")]
    assert said(evidence) == "outer\n'x'\nslow"


def test_a_suppressed_context_is_left_out() -> None:
    try:
        try:
            raise KeyError("x")
        except KeyError:
            raise RuntimeError("outer") from None
    except RuntimeError as error:
        evidence = from_exception(error)
    assert links(evidence) == [("raised", "RuntimeError")]


def test_notes_belong_to_the_message() -> None:
    error = ValueError("bad")
    error.add_note("while reading a.toml")
    error.add_note("line 3")
    assert said(from_exception(error)) == "bad\nwhile reading a.toml\nline 3"


def test_groups_are_unfolded_to_their_leaves() -> None:
    group = ExceptionGroup(
        "two", [ValueError("a"), ExceptionGroup("in", [KeyError("b"), raised(OSError(5, "c"), cause=EOFError("d"))])]
    )
    evidence = from_exception(group)
    assert links(evidence) == [
        ("raised", "ExceptionGroup"),
        ("member", "ValueError"),
        ("member", "KeyError"),
        ("member", "OSError"),
        ("cause", "EOFError"),
    ]
    assert notes.CHAIN_CLIPPED not in evidence.notes


def test_a_real_task_group_is_unfolded() -> None:
    async def fail() -> None:
        raise ConnectionResetError(errno.ECONNRESET, "reset")

    async def main() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fail())

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(main())
    evidence = from_exception(caught.value)
    assert links(evidence)[1] == ("member", "ConnectionResetError")
    assert evidence.exceptions[1].errno == "ECONNRESET"


def test_an_exception_kept_as_an_attribute_or_argument_is_the_cause() -> None:
    refused = ConnectionRefusedError(errno.ECONNREFUSED, "refused")
    connection = error_like("urllib3.exceptions.NewConnectionError", "failed to establish")
    connection.__cause__ = refused
    retries = error_like("urllib3.exceptions.MaxRetryError", "Max retries exceeded with url: /", reason=connection)
    outer = class_like("requests.exceptions.ConnectionError", OSError)(retries)
    evidence = from_exception(outer)
    assert links(evidence) == [
        ("raised", "requests.exceptions.ConnectionError"),
        ("cause", "urllib3.exceptions.MaxRetryError"),
        ("cause", "urllib3.exceptions.NewConnectionError"),
        ("cause", "ConnectionRefusedError"),
    ]
    assert evidence.notes == (notes.RETRIES_SPENT,)


def test_tenacity_s_retry_error_is_unwrapped_by_its_last_attempt_alone() -> None:
    @tenacity.retry(stop=tenacity.stop_after_attempt(2), wait=tenacity.wait_none())
    def fail() -> None:
        raise ConnectionResetError(errno.ECONNRESET, "reset")

    with pytest.raises(tenacity.RetryError) as caught:
        fail()
    caught.value.__cause__ = None
    caught.value.__suppress_context__ = True
    evidence = from_exception(caught.value)
    assert links(evidence) == [("raised", "tenacity.RetryError"), ("cause", "ConnectionResetError")]
    assert evidence.notes == (notes.RETRIES_SPENT,)


@pytest.mark.parametrize(
    ("error", "note"),
    [
        (error_like("google.api_core.exceptions.RetryError", "Timeout of 60.0s exceeded"), notes.RETRIES_SPENT),
        (
            error_like("pydantic_ai.exceptions.UnexpectedModelBehavior", "Exceeded maximum retries (1) for output"),
            notes.RETRIES_SPENT,
        ),
        (RuntimeError("giving up after 5 tries"), notes.RETRIES_SPENT),
        (RuntimeError("Failed after 3 attempts. Last error: overloaded"), notes.RETRIES_SPENT),
        (
            error_like(
                "botocore.exceptions.ClientError",
                "An error occurred (ThrottlingException) ... (reached max retries: 4): Rate exceeded",
                response={
                    "Error": {"Code": "ThrottlingException"},
                    "ResponseMetadata": {"HTTPStatusCode": 400, "RetryAttempts": 4},
                },
            ),
            f"{notes.RETRIES_SPENT}: 4",
        ),
        (
            error_like(
                "openai.APIConnectionError",
                "Connection error.",
                request=Namespace(headers=Headers(x_stainless_retry_count="2")),
            ),
            f"{notes.RETRIES_SPENT}: 2",
        ),
    ],
)
def test_a_spent_inner_retry_budget_is_noted(error: BaseException, note: str) -> None:
    assert from_exception(error).notes == (note,)


@pytest.mark.parametrize(
    "message", ["could not retrieve the metrics", "retry later", "max tokens exceeded", "retry-after: 3"]
)
def test_other_words_are_no_spent_retry_budget(message: str) -> None:
    assert from_exception(RuntimeError(message)).notes == ()


SDK_ERRORS = [
    (
        error_like(
            "openai.RateLimitError",
            "Error code: 429 - You exceeded your quota",
            status_code=429,
            code="insufficient_quota",
            type="insufficient_quota",
            body=BILLING,
            response=ReadResponse(
                429, Headers(Retry_After="3", x_should_retry="false"), json.dumps({"error": BILLING}).encode()
            ),
        ),
        429,
        ("insufficient_quota",),
        {"retry-after": "3", "x-should-retry": "false"},
    ),
    (
        error_like(
            "anthropic.OverloadedError",
            "Error code: 529 - {'type': 'error', ...}",
            status_code=529,
            type="overloaded_error",
            body={
                "type": "error",
                "error": {"type": "overloaded_error", "message": "Overloaded"},
                "request_id": "req_1",
            },
        ),
        529,
        ("overloaded_error",),
        {},
    ),
    (
        error_like(
            "google.genai.errors.ClientError",
            "429 RESOURCE_EXHAUSTED.",
            code=429,
            status="RESOURCE_EXHAUSTED",
            details={
                "error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [{"reason": "RATE_LIMIT_EXCEEDED"}]}
            },
        ),
        429,
        ("RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED"),
        {},
    ),
    (
        error_like(
            "botocore.errorfactory.AccessDeniedException",
            "An error occurred (AccessDeniedException) when calling the InvokeModel operation: no",
            response={
                "Error": {"Code": "AccessDeniedException", "Message": "no"},
                "ResponseMetadata": {
                    "HTTPStatusCode": 403,
                    "HTTPHeaders": {"x-amzn-errortype": "AccessDeniedException"},
                },
            },
        ),
        403,
        ("AccessDeniedException",),
        {"x-amzn-errortype": "AccessDeniedException"},
    ),
    (
        error_like(
            "aiohttp.client_exceptions.ClientResponseError",
            "503, message='no'",
            status=503,
            headers=Headers(Retry_After="9"),
        ),
        503,
        (),
        {"retry-after": "9"},
    ),
    (
        error_like(
            "mcp.shared.exceptions.MCPError", "Invalid params", error=Namespace(code=-32602, message="Invalid params")
        ),
        None,
        ("-32602",),
        {},
    ),
    (
        error_like("azure.core.exceptions.HttpResponseError", "no", status_code=409, error=Namespace(code="Conflict")),
        409,
        ("Conflict",),
        {},
    ),
    (error_like("stripe.CardError", "declined", http_status=402, code="card_declined"), 402, ("card_declined",), {}),
    (error_like("psycopg.errors.UniqueViolation", "duplicate key", sqlstate="23505"), None, ("23505",), {}),
    (
        error_like("pydantic_ai.exceptions.ModelHTTPError", "no", status_code=503, retry_after=2.5, body=None),
        503,
        (),
        {"retry-after": "2.5"},
    ),
    (
        error_like("ssl.SSLCertVerificationError", "no", reason="CERTIFICATE_VERIFY_FAILED"),
        None,
        ("CERTIFICATE_VERIFY_FAILED",),
        {},
    ),
    (
        error_like(
            "kubernetes.client.exceptions.ApiException",
            "(422)",
            status=422,
            reason="Unprocessable Entity",
            body='{"reason":"Invalid"}',
        ),
        422,
        ("Invalid",),
        {},
    ),
]


@pytest.mark.parametrize(("error", "status", "codes", "headers"), SDK_ERRORS, ids=lambda value: type(value).__name__)
def test_status_codes_and_headers_of_sdk_exceptions_are_read(
    error: BaseException, status: int | None, codes: tuple[str, ...], headers: dict[str, str]
) -> None:
    evidence = from_exception(error)
    assert evidence.http_status == evidence.exceptions[0].status == status
    assert evidence.codes == evidence.exceptions[0].codes == codes
    assert dict(evidence.headers) == headers


def test_the_body_is_a_stream_and_its_message_is_said_once() -> None:
    error = error_like(
        "httpx.HTTPStatusError",
        "Client error '400'",
        response=ReadResponse(400, Headers(), b'{"error": {"message": "no such model"}}'),
    )
    evidence = from_exception(error)
    assert evidence.stream(StreamName.BODY).text == '{"error": {"message": "no such model"}}'  # type: ignore[union-attr]
    assert said(evidence) == "Client error '400'\nno such model"


def test_a_body_that_was_not_read_is_not_fetched() -> None:
    evidence = from_exception(error_like("httpx.HTTPStatusError", "no", response=UnreadResponse(503, Headers())))
    assert evidence.http_status == 503
    assert evidence.stream(StreamName.BODY) is None
    assert evidence.notes == (notes.BODY_UNREAD,)


def test_a_status_in_a_property_is_read_and_an_enumeration_counts() -> None:
    from http import HTTPStatus

    class Computed(Exception):
        @property
        def status_code(self) -> int:
            return 503

    class Declared(Exception):
        code = HTTPStatus.TOO_MANY_REQUESTS

    assert from_exception(Computed()).http_status == 503
    assert from_exception(Declared()).http_status == 429


@pytest.mark.parametrize("value", [True, 7, 42, 1006, -32602, "429 no", None, 4.29])
def test_other_numbers_are_no_http_status(value: object) -> None:
    assert from_exception(error_like("x.Error", "no", code=value, status=value)).http_status is None


def test_the_innermost_cause_with_a_status_tells_the_status() -> None:
    inner = error_like("sdk.Inner", "no", status_code=402, headers={"retry-after": "5"})
    outer = error_like("sdk.Wrapper", "no", status_code=500, headers={"retry-after": "1"})
    outer.__cause__ = inner
    evidence = from_exception(outer)
    assert evidence.http_status == 402
    assert evidence.headers == (("retry-after", "5"),)


def test_a_failed_fallback_is_not_explained_by_the_error_it_fell_back_from() -> None:
    first = error_like("sdk.RateLimit", "slow down", status_code=429, headers={"retry-after": "60"})
    fallback = error_like("sdk.Unauthorized", "bad key", status_code=401)
    fallback.__context__ = first
    evidence = from_exception(fallback)
    assert evidence.http_status == 401
    assert evidence.headers == ()
    plain = raised(RuntimeError("wrapped"))
    plain.__context__ = first
    assert from_exception(plain).http_status == 429


def test_members_that_disagree_say_nothing_about_the_whole() -> None:
    many, forbidden = (error_like("sdk.Error", "no", status_code=status) for status in (429, 403))
    assert from_exception(ExceptionGroup("g", [many, forbidden])).http_status is None
    assert from_exception(ExceptionGroup("g", [many, ValueError()])).http_status == 429


def test_a_failed_process_brings_its_command_end_and_streams() -> None:
    script = "import sys; print('out'); sys.stderr.write('fatal: no\\n'); sys.exit(3)"
    with pytest.raises(subprocess.CalledProcessError) as caught:
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    evidence = from_exception(caught.value)
    assert evidence.exit_code == 3
    assert evidence.command == (sys.executable, "-c", script)
    assert evidence.tool.startswith("python")
    assert evidence.stream(StreamName.STDERR).text == "fatal: no"  # type: ignore[union-attr]
    assert evidence.stream(StreamName.STDOUT).text == "out"  # type: ignore[union-attr]


def test_a_killed_process_brings_its_signal() -> None:
    evidence = from_exception(subprocess.CalledProcessError(-9, "make all"))
    assert (evidence.exit_code, evidence.signal, evidence.command) == (None, "SIGKILL", ("make", "all"))


def test_a_timed_out_process_is_noted() -> None:
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        subprocess.run(
            [sys.executable, "-c", "import time; time.sleep(60)"], check=False, timeout=0.2, capture_output=True
        )
    evidence = from_exception(caught.value)
    assert evidence.notes == (notes.TIMED_OUT,)
    assert evidence.exit_code is None


@pytest.mark.parametrize(
    ("error", "exit_code", "command"),
    [
        (
            error_like("git.exc.GitCommandError", "no", command=["git", "push"], status=128, stderr="fatal: no"),
            128,
            ("git", "push"),
        ),
        (
            error_like("plumbum.ProcessExecutionError", "no", argv=["ls"], retcode=2, stdout="", stderr="fatal: no"),
            2,
            ("ls",),
        ),
        (
            error_like(
                "invoke.UnexpectedExit", "no", result=Namespace(return_code=1, command="make", stderr="fatal: no")
            ),
            1,
            ("make",),
        ),
        (SystemExit(4), 4, ()),
    ],
)
def test_other_libraries_process_errors_are_read_too(
    error: BaseException, exit_code: int, command: tuple[str, ...]
) -> None:
    evidence = from_exception(error)
    assert (evidence.exit_code, evidence.command, evidence.http_status, evidence.codes) == (
        exit_code,
        command,
        None,
        (),
    )


def test_validators_bring_the_kind_of_what_they_rejected() -> None:
    class Model(pydantic.BaseModel):
        a: int
        b: str

    with pytest.raises(pydantic.ValidationError) as invalid:
        Model.model_validate({"a": "x"})
    assert from_exception(invalid.value).codes == ("int_parsing", "missing")
    with pytest.raises(jsonschema.ValidationError) as rejected:
        jsonschema.validate({}, {"required": ["b"]})
    evidence = from_exception(rejected.value)
    assert evidence.codes == ("required",)
    assert said(evidence).startswith("'b' is a required property")


def test_a_json_error_that_cannot_be_parsed_keeps_the_document() -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads('{"a":')
    assert from_exception(caught.value).stream(StreamName.BODY).text == '{"a":'  # type: ignore[union-attr]


def test_grpc_s_code_is_called() -> None:
    class RpcError(Exception):
        def code(self) -> object:
            return Namespace(name="UNAVAILABLE")

    RpcError.__module__ = "grpc"
    assert from_exception(RpcError()).codes == ("UNAVAILABLE",)


def test_a_message_that_is_json_as_a_whole_gives_its_codes() -> None:
    assert from_exception(RuntimeError('{"error": {"type": "overloaded_error", "message": "Overloaded"}}')).codes == (
        "overloaded_error",
    )


def test_the_caller_s_tool_and_command_win() -> None:
    evidence = from_exception(ValueError("no"), tool="create_issue", command=["npx", "server", "--token", "abc"])
    assert (evidence.tool, evidence.command) == ("create_issue", ("npx", "server", "--token", "[redacted:argument]"))


def test_secrets_and_escape_codes_are_gone_from_every_field() -> None:
    secret = "sk-" + "a1B2c3D4e5F6" * 3
    error = error_like(
        "x.Error",
        f"\x1b[31mkey {secret}",
        body={"error": {"message": f"bad {secret}", "code": secret}},
        headers={"x-request-id": secret},
        cmd=["x", secret],
        returncode=1,
        stderr=secret,
    )
    error.add_note(f"note {secret}")
    evidence = from_exception(error, tool=f"tool {secret}")
    assert secret not in repr(evidence)
    assert "\x1b" not in said(evidence)


# --- hostile exceptions


class StrRaises(Exception):
    def __str__(self) -> str:
        raise TypeError("no text")


class Touchy(Exception):
    """Everything about it raises or is slow."""

    status_code = property(lambda _: (_ for _ in ()).throw(RuntimeError))
    response = property(lambda _: time.sleep(30))
    body = property(lambda _: time.sleep(30))

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)

    def __getattribute__(self, name: str) -> object:
        raise RuntimeError(name)


class Inventive(Exception):
    """Like a mock: it has every attribute."""

    def __getattr__(self, name: str) -> object:
        return Inventive(name)


class StrSubclass(str):
    __slots__ = ()

    def __getitem__(self, key: object) -> Any:
        raise RuntimeError

    def __str__(self) -> str:
        raise RuntimeError


class OddText(Exception):
    def __str__(self) -> str:
        return StrSubclass("odd")


def test_an_exception_without_text_says_so() -> None:
    assert said(from_exception(StrRaises())) == "<StrRaises whose str() raised TypeError>"


@pytest.mark.parametrize("kind", [Touchy, Inventive, OddText, StrRaises])
def test_no_exception_breaks_the_normaliser(kind: type[Exception]) -> None:
    began_s = time.monotonic()
    evidence = from_exception(kind("x"))
    assert len(evidence.exceptions) == 1
    assert time.monotonic() - began_s < 5


def test_cycles_end() -> None:
    one, two = ValueError("one"), KeyError("two")
    one.__cause__, two.__cause__ = two, one
    one.args = (one, two)
    assert links(from_exception(one)) == [("raised", "ValueError"), ("cause", "KeyError")]
    group = ExceptionGroup("g", [one])
    two.__cause__ = group
    assert len(from_exception(group).exceptions) == 3


def test_a_chain_of_ten_thousand_keeps_its_outer_end_and_says_that_it_was_clipped() -> None:
    error: BaseException = ValueError("innermost")
    for number in range(10_000):
        outer = RuntimeError(str(number))
        outer.__cause__ = error
        error = outer
    evidence = from_exception(error)
    assert len(evidence.exceptions) == 20
    assert evidence.exceptions[0].message == "9999"
    assert notes.CHAIN_CLIPPED in evidence.notes
    _unlink(error)


def test_a_long_chain_keeps_both_ends() -> None:
    error: BaseException = ValueError("innermost")
    for number in range(100):
        outer = RuntimeError(str(number))
        outer.__cause__ = error
        error = outer
    messages = [fact.message for fact in from_exception(error).exceptions]
    assert messages[0] == "99"
    assert messages[-1] == "innermost"
    assert len(messages) == 20


def test_groups_in_groups_are_passed_through_however_deep() -> None:
    group: Exception = ValueError("leaf")
    for _ in range(500):
        group = ExceptionGroup("g", [group])
    assert links(from_exception(group)) == [("raised", "ExceptionGroup"), ("member", "ValueError")]


def test_of_many_members_fifty_are_kept() -> None:
    evidence = from_exception(ExceptionGroup("g", [ValueError(str(number)) for number in range(10_000)]))
    assert len(evidence.exceptions) == 51
    assert notes.CHAIN_CLIPPED in evidence.notes


def test_a_huge_message_is_clipped_and_takes_no_time() -> None:
    began_s = time.process_time()
    evidence = from_exception(ValueError("password=" + "x" * 50_000_000))
    assert len(said(evidence)) < 40_000
    assert time.process_time() - began_s < 5


def test_nothing_of_the_live_exception_is_kept() -> None:
    class Held(Exception):
        pass

    def fail() -> tuple[Evidence, weakref.ref[Held]]:
        error = Held("x")
        try:
            raise error
        except Held as caught:
            return from_exception(caught), weakref.ref(error)

    evidence, alive = fail()
    gc.collect()
    assert alive() is None
    assert evidence.exceptions[0].message == "x"


def test_the_exception_is_left_as_it_was() -> None:
    error = raised(ValueError("x"), cause=KeyError("y"))
    before = (error.__cause__, error.__context__, error.__traceback__, error.args, dict(vars(error)))
    from_exception(error)
    assert before == (error.__cause__, error.__context__, error.__traceback__, error.args, vars(error))


@given(
    st.text(),
    st.dictionaries(
        st.sampled_from(
            ["code", "status", "body", "headers", "response", "errno", "cmd", "returncode", "stderr", "error"]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
            max_leaves=6,
        ),
    ),
)
def test_any_attributes_make_evidence(message: str, attributes: dict[str, object]) -> None:
    evidence = from_exception(error_like("x.Error", message, **attributes))
    repr(evidence).encode()


def test_no_sdk_and_nothing_slow_is_imported() -> None:
    slow = [
        "openai",
        "anthropic",
        "httpx",
        "requests",
        "botocore",
        "pydantic",
        "attrs",
        "inspect",
        "dataclasses",
        "asyncio",
        "subprocess",
        "tomllib",
        "json",
    ]
    script = f"""
import sys
from rerail.evidence import from_exception
from_exception(ValueError("x"))
print([name for name in {slow} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def _unlink(error: BaseException | None) -> None:
    """Take a long chain apart: CPython would free it recursively."""
    while error is not None:
        inner, error.__cause__ = error.__cause__, None
        error = inner
