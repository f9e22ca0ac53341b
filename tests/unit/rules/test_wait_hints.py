"""Every form of "try again later" is read, and nothing else is.

The clock of all tables stands at Friday, 2 January 2026, 12:00:00 UTC.
"""

from __future__ import annotations

import math
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rerail.rules.wait_hints import GRACE_S, MAX_WAIT_S, WaitHint, read_wait_hint

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC).timestamp()
MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0


def utc(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]


# A length of time: headers, seconds.
HEADERS_WITH_A_LENGTH: list[tuple[dict[str, str], float]] = [
    ({"retry-after": "26"}, 26),
    ({"Retry-After": "0"}, 0),
    ({"RETRY-AFTER": " 120 "}, 120),
    ({"retry-after": "0.503"}, 0.503),
    ({"retry-after": '"30"'}, 30),
    ({"retry-after": "30, 30"}, 30),
    ({"retry-after": "999999"}, 999_999),
    ({"retry-after": "17s"}, 17),
    ({"retry-after": "1m30s"}, 90),
    ({"retry-after": "PT1M30S"}, 90),
    ({"retry-after": "00:01:30"}, 90),
    ({"x-retry-after": "9"}, 9),
    ({"beta-retry-after": "60"}, 60),
    ({"retry-after-ms": "1400"}, 1.4),
    ({"retry-after-ms": "0"}, 0),
    ({"x-ms-retry-after-ms": "1210.5"}, 1.2105),
    ({"x-amz-retry-after": "2500"}, 2.5),
    ({"x-amzn-retry-after": "2500"}, 2.5),
    ({"retry-in": "12"}, 12),
    ({"x-ratelimit-reset-requests": "6m0s"}, 360),
    ({"x-ratelimit-reset-requests": "120ms"}, 0.12),
    ({"x-ratelimit-reset-tokens": "1h2m3.5s"}, 3723.5),
    ({"x-ratelimit-reset-tokens-minute": "11.382"}, 11.382),
    ({"x-ratelimit-reset": "42"}, 42),
    ({"x-ratelimit-reset-after": "1.234"}, 1.234),
    ({"x-rate-limit-reset": "300"}, 300),
    ({"x-ratelimitbysize-reset": "20"}, 20),
    ({"ratelimit-reset": "58"}, 58),
    ({"ratelimit": "limit=100, remaining=0, reset=30"}, 30),
    ({"ratelimit": '"default";r=0;t=30'}, 30),
    ({"ratelimit": '"burst";r=0;t=1, "daily";r=0;t=3600, "monthly";r=9;t=90000'}, 3600),
    ({"x-codex-primary-reset-after-seconds": "3600", "x-codex-primary-used-percent": "100"}, 3600),
]

# A point in time: headers, seconds from NOW.
HEADERS_WITH_A_POINT: list[tuple[dict[str, str], float]] = [
    ({"retry-after": "Fri, 02 Jan 2026 12:00:30 GMT"}, 30),
    ({"retry-after": "Friday, 02-Jan-26 12:00:30 GMT"}, 30),
    ({"retry-after": "Fri Jan  2 12:00:30 2026"}, 30),
    ({"retry-after": "Fri, 02 Jan 2026 12:00:30 -0000"}, 30),
    ({"retry-after": "Fri, 02 Jan 2026 13:00:30 +0100"}, 30),
    ({"retry-after": "2026-01-02T12:05:00Z"}, 300),
    ({"retry-after": "2026-01-02T12:05:00"}, 300),
    ({"retry-after": "2026-01-02T13:05:00.250+01:00"}, 300.25),
    ({"retry-after": "1767355260"}, 60),
    ({"x-ratelimit-reset": "1767358800"}, 3600),
    ({"x-ratelimit-reset": "1767358800000"}, 3600),
    ({"x-ratelimit-reset": "1767355201.5"}, 1.5),
    ({"X-RateLimit-Reset": "2026-01-02T12:01Z"}, 60),
    ({"RateLimit-ResetTime": "Fri, 02 Jan 2026 12:01:00 GMT"}, 60),
    ({"anthropic-ratelimit-requests-reset": "2026-01-02T12:00:09Z"}, 9),
    ({"anthropic-ratelimit-unified-5h-reset": "1767358800", "anthropic-ratelimit-unified-5h-status": "rejected"}, 3600),
    ({"x-ratelimit-requests-reset": "1767355290000", "x-ratelimit-requests-remaining": "0"}, 90),
]

TEXTS_WITH_A_LENGTH: list[tuple[str, float]] = [
    # fields: JSON, Python, JavaScript, header lines, XML, protobuf, logs
    ('{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}]}}', 17),
    ('"retryDelay": "6853.667943359s"', 6853.667943359),
    ('"retryDelay": "0s"', 0),
    ("links { } retry_delay {\n  seconds: 34\n  nanos: 5\n}", 34),
    ('"retry_delay": {"seconds": 34}', 34),
    ("{'message': 'You are being rate limited.', 'retry_after': 0.75, 'global': False}", 0.75),
    ('{"retry_after_ms": 1500}', 1.5),
    ('{"retryAfter": 30}', 30),
    ('{"retryAfter": "30"}', 30),
    ('{"retryAfterSeconds":1}', 1),
    ("AUTH_COOLDOWN {\n  retryAfterMs: 30000\n}", 30),
    ('{"msBeforeNext": 4500}', 4.5),
    ('{"type":"usage_limit_reached","resets_in_seconds":13241}', 13_241),
    ('"quotaResetDelay": "135h9m46s"', 486_586),
    ('{"error": "{\\"retry_after\\": 12}"}', 12),
    ('"{\\"error\\": \\"{\\\\\\"retry_after\\\\\\": \\\\\\"12\\\\\\"}\\"}"', 12),
    ("headers: {\n    'content-length': '203',\n    'retry-after': '20'\n  }", 20),
    ("[(b'Retry-After', b'60'), (b'Server', b'x')]", 60),
    ("map[Retry-After:[60] Server:[x]]", 60),
    ("HTTP/1.1 403 Forbidden\r\ncontent-length: 223\r\nretry-after: 60\r\n\r\n{}", 60),
    ("< Retry-After: 60\r\n", 60),
    ("429 code 1308 ... Your limit will reset at 2026-01-03 03:40:47 retry-after-ms=2325000", 2325),
    ("<Error><RetryAfterSeconds>30</RetryAfterSeconds></Error>", 30),
    ("x-ratelimit-reset-requests: 8.64s\nx-ratelimit-remaining-requests: 0", 8.64),
    ("{'limit': 60, 'remaining': 0, 'reset': 30}", 30),
    ('ratelimit: "default";r=0;t=45\n', 45),
    # prose
    ("Rate limit is exceeded. Try again in 17 seconds.", 17),
    ("Please try again in 10.632s. Visit https://example.com to learn more.", 10.632),
    ("Please try again in 120ms.", 0.12),
    ("Please try again in 6m0s", 360),
    ("try again\nin 20s", 20),
    ("Please retry after 26 seconds. Please go here", 26),
    ("Please retry your request after 20 seconds", 20),
    ("Please retry in 17.203498123s.", 17.203498123),
    ("retry in 1m30s", 90),
    ("Too Many Requests: retry after 35", 35),
    ("Retry after: 30 seconds", 30),
    ("try again in 2 minutes", 120),
    ("try again in 1 hour and 5 minutes", 3900),
    ("Try again in 3 days 4 hours 11 minutes.", 3 * DAY + 4 * HOUR + 11 * MINUTE),
    ("try again in 1-2 minutes", 120),
    ("try again in about an hour", 3600),
    ("try again in half an hour", 1800),
    ("try again in less than 5 minutes", 300),
    ("try again in 1,200 seconds", 1200),
    ("try again in 1,5 seconds", 1.5),
    ("Try again in `30s`", 30),
    ("try again later (in 5 minute(s))", 300),
    ("Try again in 00:01:30", 90),
    ("Retry after 00:00:30", 30),
    ("come back in two hours", 7200),
    ("wait 30 seconds", 30),
    ("Please wait for 30 seconds and try again.", 30),
    ("you must wait another 5m", 300),
    ("Maximum request rate exceeded. Wait 0secs before issuing a new request", 0),
    ("A wait of 35 seconds is required (caused by SendMessageRequest)", 35),
    ("Take a break for 3 minutes before trying again.", 180),
    ("rate limit exceeded, reset in 45s", 45),
    ("Rate limit reset in 900s (max: 30s). 429 Too Many Requests", 900),
    ("Your quota will reset after 12h34m16s.", 45_256),
    ("Resets in 45m10s", 2710),
    ("Limit exceeded. Time until reset: 5m", 300),
    ("it will be available again in 12 minutes", 720),
    ("Request was throttled. Expected available in 3 seconds.", 3),
    ("It will be back in 20 minutes", 1200),
    ("Your request was rejected; next available slot in 4 minutes", 240),
    ("You can make another request in 30 seconds.", 30),
    ("FLOOD_WAIT_35", 35),
    ("Zu viele Anfragen. Bitte versuchen Sie es in 2 Minuten erneut.", 120),
    ("Bitte versuchen Sie es nach 30 Sekunden erneut", 30),
    ("Trop de requêtes, réessayez dans 20 secondes.", 20),
    ("Demasiadas solicitudes. Vuelve a intentarlo en 15 segundos.", 15),
    ("请求过于频繁, 请在 30 秒后重试", 30),
    ("too many requests; backoff: 5s", 5),
    ("toomanyrequests: retry-after: 433.104µs, allowed: 44000/minute", 433.104e-6),
    ("You are rate limited for 30 seconds", 30),
    ("account is in cooldown (30s remaining)", 30),
    ("Do not retry for 10 minutes", 600),
    ('{"error":"Model x/y is currently loading","estimated_time":20.0}', 20),
]

TEXTS_WITH_A_POINT: list[tuple[str, float]] = [
    ('{"resets_at": 1767358800}', 3600),
    ('"quotaResetTimeStamp": "2026-01-02T13:00:00Z"', 3600),
    ('{"reset_at": "2026-01-02 13:00:00"}', 3600),
    ("{'remaining': 0, 'reset': 1767358800}", 3600),
    ("Claude AI usage limit reached|1767358800", 3600),
    ("usage limit reached|1767358800000", 3600),
    ("Your limit will reset at 3pm (Europe/Rome).", 2 * HOUR),
    ("5-hour limit reached ∙ resets 10pm", 10 * HOUR),
    ("You've hit your session limit · resets 5:40pm (Europe/Budapest)", 4 * HOUR + 40 * MINUTE),
    ("Your limit will reset at 1pm (Etc/GMT+5)", 6 * HOUR),
    ("resets 3:15\u202fPM UTC", 3 * HOUR + 15 * MINUTE),
    ("resets at 9 a.m. EST", 2 * HOUR),
    ("resets at 15:00 CET", 2 * HOUR),
    ("resets at 18:30 IST", 1 * HOUR),
    ("resets at 15:00 UTC+2", 1 * HOUR),
    ("resets at 15:00 +05:30", 21.5 * HOUR),
    ("Access resets at 9:34 AM PST.", 5 * HOUR + 34 * MINUTE),
    ("Access resets at 8 AM ET", 1 * HOUR),
    ("Daily limits reset at midnight Pacific Time", 20 * HOUR),
    ("quota resets at midnight", 12 * HOUR),
    ("resets at noon", 0),
    ("available again at 14:30 UTC", 2.5 * HOUR),
    ("available again at 14:30Z", 2.5 * HOUR),
    ("reset at 2026-01-02 13:04 UTC", HOUR + 4 * MINUTE),
    ("Your limit resets on Jan 5 at 9am", 2 * DAY + 21 * HOUR),
    ("You've hit your weekly limit · resets Jan 5, 9am (Europe/Berlin)", 2 * DAY + 20 * HOUR),
    ("resets at 9am on 5 January 2026", 2 * DAY + 21 * HOUR),
    ("try again at Jan 5th, 2026 7:10 PM.", 3 * DAY + 7 * HOUR + 10 * MINUTE),
    ("reset when your monthly cycle ends on 1/27/2026", 24 * DAY + 12 * HOUR),
    ("Limit reached · resets Mon 12:00 AM", 2 * DAY + 12 * HOUR),
    ("resets Friday at 11am", 6 * DAY + 23 * HOUR),
    ("try again tomorrow at 9am", 21 * HOUR),
    ("Please try again tomorrow.", 12 * HOUR),
    ("resets today at 5pm", 5 * HOUR),
    ("Try again at 7:10 PM", 7 * HOUR + 10 * MINUTE),
    ("Retry after 12:30:00 UTC", 30 * MINUTE),
    ("API rate limit of 60 still exceeded until 2026-01-02 12:05:00 +0000 UTC, not making remote request.", 300),
    ("Limits will refresh at 00:00 UTC", 12 * HOUR),
    ("Service unavailable: back online at 13:30 UTC", 1.5 * HOUR),
    ("Your access will be restored on 2026-01-03.", 12 * HOUR),
    ("Do not retry before 13:00 UTC", HOUR),
    ("Please wait until 13:00 UTC", HOUR),
    ("Your next reset: 3pm UTC", 3 * HOUR),
    ("Rate limit reached, retry after 1767355260", 60),
]

MUST_NOT_BE_READ: list[str] = [
    "",
    "Failed after 3 retries",
    "retry after 3 attempts",
    "retry after 503",
    "timeout of 30s exceeded",
    "wait timed out after 30s",
    "lock wait 50s exceeded",
    "waited 30 seconds for the lock",
    "Waited for 1.19s due to client-side throttling",
    "The job was retried after 30s",
    "We retried in 30s",
    "failed again in 5s",
    "timed out again after 30s",
    "in 5 files",
    "try again in 5 files",
    "took 17s",
    "Tests finished in 3m12s",
    "Ran 5 tests in 0.123s",
    "10 requests per 60 seconds",
    "Rate limit: 10 requests within 60 seconds",
    "limit of 100 requests in 1 minute",
    "You can send 10 messages in 3 hours",
    "sent 5 more requests in 30 seconds",
    "Rate limit of 60 requests resets every 60 seconds",
    "keep it consistent for at least 15 minutes before gradually increasing it",
    "Limit 30000, Used 29500, Requested 1200.",
    "5-hour limit reached",
    "connection reset by peer after 12s",
    "Connection reset after 30 seconds",
    "connection reset at 12:30",
    "git reset --hard 3 minutes",
    "Restored /app/foo.csproj (in 5.2 sec)",
    "if usage_limit { cooldown(24h) }",
    "Please wait a moment and try again",
    "Please wait a few minutes before you try again.",
    "try again in a few minutes",
    "please wait up to 5 minutes",
    "within the last 5 minutes, please wait a moment and try again",
    "Timeout waiting for reviewer is 24h; do not retry.",
    "we will not retry after 30 seconds",
    "INFO: task khugepaged blocked for more than 120 seconds",
    "goroutine 1 [chan receive, 5 minutes]",
    "token valid until 2027-01-01",
    "wait for 3 pods",
    "wait 5",
    "retry.py:30:12 error",
    '{"retries": 5, "max_retries": 3, "retry": 3}',
    "max_retry_after: 60",
    "retryDelay: 1000",
    "retry_delay=5",
    '"retry_after": null',
    "retry_after: None",
    "reset: 30",
    "x-ratelimit-limit-requests: 500\nx-ratelimit-remaining: 17",
    "x-ratelimit-reset-requests: 6m0s\nx-ratelimit-remaining-requests: 4999",
    'RateLimit-Policy: "default";q=100;w=60',
    "{'limit': 60, 'remaining': 12, 'reset': 1767358800}",
    "resets at 3pm (Mars/Phobos)",
    "resets at 3pm (America/)",
    "resets at 3pm (XYZ)",
    "resets at 3pm XYST",
    "resets at 3pm local time",
    "resets at 15:00 UTC+25",
    "resets at 25:00 UTC",
    "resets at 13pm",
    "resets at 10:75",
    "resets on May",
    "resets on 5/6/2026",
    "resets on 31 February 2026",
    "resets today",
    "try again at 99999-01-01",
    "try again on 2031-01-01",
]

#: Nothing anybody can wait for, in any unit.
ABSURD = ["inf", "-inf", "nan", "-5", "-0.1", "1e400", "1e30", "9" * 30, "9" * 400, "0x10", "", "soon"]
#: Too long in seconds, and too far away as epochs.
TOO_FAR = ["34560001", "999999999", "9999999999", "9999999999999"]


@pytest.mark.parametrize(("headers", "wait_s"), HEADERS_WITH_A_LENGTH, ids=str)
def test_a_header_that_gives_a_length_is_read_without_a_clock(headers: dict[str, str], wait_s: float) -> None:
    hint = read_wait_hint(headers, [], now=None)
    assert hint is not None
    assert hint.wait_s == pytest.approx(wait_s)
    assert hint.resets_at is None


@pytest.mark.parametrize(("headers", "wait_s"), HEADERS_WITH_A_POINT, ids=str)
def test_a_header_that_gives_a_point_in_time_is_read_against_the_clock(headers: dict[str, str], wait_s: float) -> None:
    hint = read_wait_hint(headers, [], now=NOW)
    assert hint is not None
    assert hint.wait_s == pytest.approx(wait_s)
    assert hint.resets_at == pytest.approx(NOW + wait_s)
    assert read_wait_hint(headers, [], now=None) is None


@pytest.mark.parametrize(("text", "wait_s"), TEXTS_WITH_A_LENGTH)
def test_a_text_that_gives_a_length_is_read_without_a_clock(text: str, wait_s: float) -> None:
    hint = read_wait_hint({}, [text], now=None)
    assert hint is not None
    assert hint.wait_s == pytest.approx(wait_s)
    assert hint.resets_at is None


@pytest.mark.parametrize(("text", "wait_s"), TEXTS_WITH_A_POINT)
def test_a_text_that_gives_a_point_in_time_is_read_against_the_clock(text: str, wait_s: float) -> None:
    hint = read_wait_hint({}, [text], now=NOW)
    assert hint is not None
    assert hint.wait_s == pytest.approx(wait_s)
    assert hint.resets_at == pytest.approx(NOW + wait_s)


@pytest.mark.parametrize("text", MUST_NOT_BE_READ)
def test_digits_that_mean_something_else_are_not_read(text: str) -> None:
    assert read_wait_hint({}, [text], now=NOW) is None


@pytest.mark.parametrize("value", ABSURD)
@pytest.mark.parametrize(
    "name", ["retry-after", "retry-after-ms", "x-ratelimit-reset", "anthropic-ratelimit-tokens-reset"]
)
def test_an_absurd_header_is_no_hint(name: str, value: str) -> None:
    assert read_wait_hint({name: value}, [], now=NOW) is None


@pytest.mark.parametrize("value", [*ABSURD, *TOO_FAR])
@pytest.mark.parametrize(
    "text", ["retry-after: {}", '{{"retry_after": {}}}', "try again in {} seconds", "retry after {}"]
)
def test_an_absurd_number_in_a_text_is_no_hint(text: str, value: str) -> None:
    assert read_wait_hint({}, [text.format(value)], now=NOW) is None


@pytest.mark.parametrize("value", TOO_FAR)
def test_a_wait_of_more_than_four_hundred_days_is_no_hint(value: str) -> None:
    assert read_wait_hint({"retry-after": value, "x-ratelimit-reset": value}, [], now=NOW) is None


def test_an_absurd_header_gives_way_to_the_next_best_source() -> None:
    hint = read_wait_hint({"retry-after": "inf", "x-ratelimit-reset": "9"}, ["try again in 17 s"], now=NOW)
    assert hint is not None
    assert hint.wait_s == 9
    hint = read_wait_hint({"retry-after": "1e400"}, ["try again in 17 s"], now=NOW)
    assert hint is not None
    assert hint.wait_s == 17


def test_the_longest_believed_wait_is_four_hundred_days() -> None:
    assert MAX_WAIT_S == 400 * DAY
    hint = read_wait_hint({"retry-after": "34560000"}, [], now=NOW)
    assert hint is not None
    assert hint.wait_s == MAX_WAIT_S


def test_zero_is_a_hint_and_absence_is_none() -> None:
    assert read_wait_hint({"retry-after": "0"}, ["try again in 17 s"], now=NOW) == WaitHint(
        0.0, None, "retry-after-seconds", "retry-after: 0"
    )
    assert read_wait_hint({"retry-after": ""}, [], now=NOW) is None
    assert read_wait_hint({}, [], now=NOW) is None


@pytest.mark.parametrize(
    "value", ["Thu, 01 Jan 2015 00:00:00 -0000", "Thu, 01 Jan 2015 00:00:00 GMT", "2015-01-01T00:00:00Z", "1420070400"]
)
def test_a_date_that_has_passed_means_at_once(value: str) -> None:
    hint = read_wait_hint({"Retry-After": value}, [], now=NOW)
    assert hint is not None
    assert hint.wait_s == 0
    assert hint.resets_at == utc(2015, 1, 1)


def test_a_two_digit_year_more_than_fifty_years_ahead_is_in_the_past() -> None:
    hint = read_wait_hint({"retry-after": "Sunday, 06-Nov-94 08:49:37 GMT"}, [], now=NOW)
    assert hint is not None
    assert hint.resets_at == utc(1994, 11, 6, 8, 49, 37)


# Which source is believed.


def test_headers_beat_fields_and_fields_beat_sentences() -> None:
    texts = ['{"retry_after": 7, "message": "try again in 17 s"}']
    by_header = read_wait_hint({"retry-after": "3"}, texts, now=NOW)
    by_field = read_wait_hint({"server": "x"}, texts, now=NOW)
    assert by_header is not None
    assert (by_header.wait_s, by_header.form) == (3, "retry-after-seconds")
    assert by_field is not None
    assert (by_field.wait_s, by_field.form) == (7, "retry-after-seconds")


def test_a_field_in_a_later_text_beats_a_sentence_in_an_earlier_one() -> None:
    hint = read_wait_hint({}, ["try again in 17 s", '{"retry_after": 7}'], now=NOW)
    assert hint is not None
    assert hint.wait_s == 7


def test_of_several_texts_the_first_that_says_something_wins() -> None:
    hint = read_wait_hint({}, ["nothing", "try again in 17 s", "try again in 99 s"], now=NOW)
    assert hint is not None
    assert hint.wait_s == 17


def test_within_a_text_the_last_statement_wins() -> None:
    log = "attempt 1: try again in 5 s\n" + "x\n" * 400 + "attempt 2: usage limit reached, resets in 40m"
    hint = read_wait_hint({}, [log], now=NOW)
    assert hint is not None
    assert hint.wait_s == 2400


def test_milliseconds_beat_seconds_and_both_beat_the_reset_of_a_limit() -> None:
    headers = {"x-ratelimit-reset": "900", "retry-after": "2", "retry-after-ms": "1400"}
    waits: list[float | None] = []
    for name in ("retry-after-ms", "retry-after", "x-ratelimit-reset"):
        hint = read_wait_hint(headers, [], now=NOW)
        waits.append(hint and hint.wait_s)
        del headers[name]
    assert waits == [1.4, 2, 900]


def test_the_limit_that_is_spent_is_the_one_to_wait_for() -> None:
    hint = read_wait_hint(
        {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "8.64s",
            "x-ratelimit-remaining-tokens": "149000",
            "x-ratelimit-reset-tokens": "6m0s",
            "x-ratelimit-reset-images": "1h",
        },
        [],
        now=NOW,
    )
    assert hint is not None
    assert hint.wait_s == 8.64


def test_of_limits_that_do_not_tell_whether_they_are_spent_the_longest_wait_wins() -> None:
    hint = read_wait_hint({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, [], now=NOW)
    assert hint is not None
    assert hint.wait_s == 360


@pytest.mark.parametrize(
    "headers",
    [
        {"x-ratelimit-remaining": "4990", "x-ratelimit-reset": "1767358800"},
        {"anthropic-ratelimit-requests-remaining": "9", "anthropic-ratelimit-requests-reset": "2026-01-02T13:00:00Z"},
        {"anthropic-ratelimit-unified-status": "allowed", "anthropic-ratelimit-unified-reset": "1767358800"},
        {"x-codex-primary-used-percent": "31", "x-codex-primary-reset-after-seconds": "3600"},
        {"ratelimit": '"default";r=9;t=30'},
        {"ratelimit-policy": '"default";q=100;w=60'},
    ],
    ids=str,
)
def test_a_limit_with_something_left_is_no_reason_to_wait(headers: dict[str, str]) -> None:
    """Providers send their resets with every response: an hour's wait after a 502 would be nonsense."""
    assert read_wait_hint(headers, [], now=NOW) is None


@pytest.mark.parametrize(
    ("text", "wait_s"),
    [
        ("Overloaded · Retrying in 40 seconds… (attempt 10/10)", 40),
        ("will retry in 5s", 5),
        ("Error 429 -> retry in 0.05s", 0.05),
        ("next attempt in 8 seconds", 8),
        ("retry 2/5 in 3s", 3),
        ("Auto-retry in 4s", 4),
        ("Docker pull failed with exit code 1, back off 3.146 seconds before retry.", 3.146),
        ("backing off 2s", 2),
        ("sleeping for 9s before the next attempt", 9),
    ],
)
def test_another_layers_own_schedule_counts_only_where_nothing_else_is_said(text: str, wait_s: float) -> None:
    alone = read_wait_hint({}, [text], now=NOW)
    assert alone is not None
    assert (alone.wait_s, alone.form) == (wait_s, "prose-own-schedule-duration")
    for texts in ([f"Please try again in 17 s.\n{text}"], [text, "Please try again in 17 s."]):
        asked = read_wait_hint({}, texts, now=NOW)
        assert asked is not None
        assert asked.wait_s == 17


# Clocks.


def test_the_servers_own_date_is_the_clock_for_its_dates() -> None:
    headers = {"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT", "date": "Mon, 30 Nov 2026 12:00:00 GMT"}
    for now in (None, NOW, utc(2026, 11, 30, 20)):
        hint = read_wait_hint(headers, [], now=now)
        assert hint is not None
        assert hint.wait_s == 30
        assert hint.resets_at == utc(2026, 11, 30, 12, 0, 30)


def test_the_date_line_of_a_response_shown_in_a_text_is_its_clock() -> None:
    shown = "HTTP/2 503\r\ndate: Mon, 30 Nov 2026 12:00:00 GMT\r\nretry-after: Mon, 30 Nov 2026 12:00:30 GMT\r\n"
    hint = read_wait_hint({}, [shown], now=None)
    assert hint is not None
    assert hint.wait_s == 30


def test_the_date_of_a_commit_is_no_clock() -> None:
    log = "Date:   Mon Nov 30 12:00:00 2026 +0100\n\n    limit resets at 2026-01-02 13:00 UTC\n"
    hint = read_wait_hint({}, [log], now=NOW)
    assert hint is not None
    assert hint.wait_s == HOUR


@pytest.mark.parametrize("now", [None, math.nan, math.inf, -math.inf, -1.0, 1e18])
def test_without_a_usable_clock_points_in_time_are_not_read_and_lengths_are(now: float | None) -> None:
    assert read_wait_hint({"x-ratelimit-reset": "1767358800"}, ["resets at 3pm (Europe/Rome)"], now=now) is None
    hint = read_wait_hint({}, ["resets at 3pm (Europe/Rome), try again in 17 s"], now=now)
    assert hint is not None
    assert hint.wait_s == 17


@pytest.mark.parametrize(
    ("late_s", "wait_s"),
    [(-60, 60), (0, 0), (180, 0), (GRACE_S, 0), (GRACE_S + 1, DAY - GRACE_S - 1), (6 * HOUR, 18 * HOUR)],
)
def test_a_time_of_day_just_past_is_now_and_one_long_past_is_tomorrows(late_s: float, wait_s: float) -> None:
    """10:03 in Zurich and "resets 10am (Europe/Zurich)": the reset has just been, it is not a day away."""
    ten_in_zurich = utc(2026, 1, 2, 9)
    hint = read_wait_hint({}, ["resets 10am (Europe/Zurich)"], now=ten_in_zurich + late_s)
    assert hint is not None
    assert hint.wait_s == wait_s


@pytest.mark.parametrize(
    ("text", "now", "resets_at"),
    [
        # New York springs forward on 8 March 2026: 02:00 EST is 03:00 EDT.
        ("resets 9am (America/New_York)", utc(2026, 3, 8, 3), utc(2026, 3, 8, 13)),
        ("resets 9am (America/New_York)", utc(2026, 3, 7, 15), utc(2026, 3, 8, 13)),
        # 02:30 never happens that night; the hour after is as near as one can get without being early.
        ("resets 2:30am (America/New_York)", utc(2026, 3, 8, 5), utc(2026, 3, 8, 7, 30)),
        # It falls back on 1 November 2026: 01:30 happens twice, and the second is the safe one.
        ("resets 1:30am (America/New_York)", utc(2026, 11, 1, 4), utc(2026, 11, 1, 6, 30)),
        ("resets 9am (America/New_York)", utc(2026, 10, 31, 14), utc(2026, 11, 1, 14)),
        # An abbreviation is a fixed offset whatever the season.
        ("resets 9am EST", utc(2026, 7, 1, 12), utc(2026, 7, 1, 14)),
        ("resets 9am ET", utc(2026, 7, 1, 12), utc(2026, 7, 1, 13)),
    ],
)
def test_summer_time_is_the_zones_own(text: str, now: float, resets_at: float) -> None:
    hint = read_wait_hint({}, [text], now=now)
    assert hint is not None
    assert hint.resets_at == resets_at


def test_a_day_without_a_year_is_the_nearest_such_day() -> None:
    over = read_wait_hint({}, ["resets Dec 29, 10am"], now=NOW)
    ahead = read_wait_hint({}, ["resets Jan 1, 1am"], now=utc(2026, 12, 31))
    leap = read_wait_hint({}, ["resets Feb 29, 1am"], now=utc(2028, 2, 28))
    assert over is not None
    assert (over.wait_s, over.resets_at) == (0, utc(2025, 12, 29, 10))
    assert ahead is not None
    assert ahead.wait_s == 25 * HOUR
    assert leap is not None
    assert leap.wait_s == 25 * HOUR


# What is handed back.


def test_a_hint_names_the_row_and_the_form_that_read_it_and_cites_the_text() -> None:
    text = "You've hit your limit · resets\u202f3pm   (Europe/Rome) · upgrade"
    assert read_wait_hint({}, [text], now=NOW) == WaitHint(
        2 * HOUR, NOW + 2 * HOUR, "prose-resets-clock-time-zoned", "resets 3pm (Europe/Rome)"
    )


def test_the_cited_text_is_short_and_on_one_line() -> None:
    hint = read_wait_hint({}, ["try again\n\n\nin" + " " * 3 + "0." + "3" * 24 + "\ts"], now=NOW)
    assert hint is not None
    assert hint.text.splitlines() == [hint.text]
    assert len(hint.text) <= 200


# Hostile input.

_PIECES = [
    "retry", "retry-after", "retry_after", "resets", "reset", "wait", "until", "limit", "remaining", "again", "try", "in", "at",
    ":", "=", '"', "\\", "'", "(", ")", "{", ".", ",", "-", "/", "|", " ", "  ", "\n", "\0", "\u0130",
    "17", "5", "1e400", "9" * 40, "99999", "s", "ms", "m", "h", "T", "Z", "P",
    "3pm", "12:30", "Europe/Rome", "UTC", "Jan", "2026-01-02", "tomorrow", "Mon",
]  # fmt: skip
_TEXT = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(_PIECES), max_size=25).map("".join))
_NAME = st.one_of(st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset", "ratelimit", "Date"]), _TEXT)
_CLOCK = st.one_of(st.none(), st.floats(), st.floats(0, 4e9))


@given(st.dictionaries(_NAME, _TEXT, max_size=4), st.lists(_TEXT, max_size=3), _CLOCK)
@example({}, ["resets Dec 31 at 11pm UTC-14"], 249_999_999_999.0)
@example({"retry-after": "0001-01-01"}, [], 0.0)
def test_no_input_raises_and_every_hint_is_a_wait_that_can_be_waited(
    headers: dict[str, str], texts: list[str], now: float | None
) -> None:
    hint = read_wait_hint(headers, texts, now=now)
    if hint is not None:
        assert 0 <= hint.wait_s <= MAX_WAIT_S
        assert hint.resets_at is None or math.isfinite(hint.resets_at)
        assert hint.form
        assert len(hint.text) <= 200


@given(
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from(["", " UTC", " EST", " (Europe/Rome)", " (Asia/Kolkata)", " (Pacific/Auckland)"]),
    st.floats(0, 4e9),
)
def test_a_time_of_day_is_never_more_than_a_day_away(hour: int, minute: int, zone: str, now: float) -> None:
    hint = read_wait_hint({}, [f"resets at {hour:02}:{minute:02}{zone}"], now=now)
    assert hint is not None
    assert hint.resets_at is not None
    assert -GRACE_S - 1e-6 <= hint.resets_at - now <= DAY + HOUR  # the day on which clocks fall back has 25 hours
    assert hint.wait_s == max(0.0, hint.resets_at - now)


@given(st.integers(0, 34_560_000_000))
def test_whole_milliseconds_survive_every_spelling(ms: int) -> None:
    seconds = ms / 1000
    spellings: list[tuple[dict[str, str], list[str]]] = [
        ({"retry-after-ms": str(ms)}, []),
        ({"retry-after": f"{seconds:.3f}"}, []),
        ({"retry-after": f"{ms}ms"}, []),
        ({}, [f'{{"retryDelay": "{seconds:.3f}s"}}']),
        ({}, [f"Please try again in {seconds:.3f}s."]),
        ({}, [f"try again in {ms // 3_600_000}h{ms // 60_000 % 60}m{ms % 60_000 / 1000:.3f}s"]),
    ]
    for headers, texts in spellings:
        hint = read_wait_hint(headers, texts, now=None)
        assert hint is not None, (headers, texts)
        assert hint.wait_s == pytest.approx(seconds, abs=1e-6)


HOSTILE_PIECES = [
    "1", "in ", " ", "\\", "wait ", "reset-", "\u0130reset", "not retry ", "limit until ", "retry after ", "retry_after",
    'retry_after\\"', "retry_after: 1e", "retry after 1,111,", "resets 1:1:1:", "resets Jan 5 at 3pm (Europe/",
    "try again the your request ",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE_PIECES)
def test_a_megabyte_of_anything_is_read_in_no_time(piece: str) -> None:
    """A child with a deadline: a search that hangs must fail the test, not the run."""
    program = (
        "import sys; from rerail.rules.wait_hints import read_wait_hint\n"
        "text = (sys.argv[1] * (1_000_000 // len(sys.argv[1]) + 1))[:1_000_000]\n"
        "read_wait_hint({}, [text], now=1e9); read_wait_hint({'retry-after': text, text: '5'}, [], now=1e9)\n"
    )
    subprocess.run([sys.executable, "-c", program, piece], check=True, timeout=20)


def test_a_hint_at_either_end_of_a_long_text_is_found() -> None:
    noise = "compiling module, nothing to see here\n" * 30_000
    for text in (f"try again in 17 s\n{noise}", f"{noise}try again in 17 s\n"):
        hint = read_wait_hint({}, [text], now=NOW)
        assert hint is not None
        assert hint.wait_s == 17


def test_a_text_without_a_hint_compiles_no_table() -> None:
    program = (
        "import rerail.rules.wait_hints as w; from rerail.rules.wait_hints.model import compiled\n"
        "assert w.read_wait_hint({'content-type': 'x'}, ['fatal: disk is full'], now=1e9) is None\n"
        "assert compiled.cache_info().currsize == 0, compiled.cache_info()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_parser_brings_no_module_that_the_core_may_not_import() -> None:
    forbidden = {
        "email",
        "socket",
        "random",
        "subprocess",
        "sqlite3",
        "asyncio",
        "zoneinfo",
        "attrs",
        "pydantic",
        "structlog",
    }
    program = (
        "import importlib.util, sys\n"
        "before = set(sys.modules)\n"
        "from rerail.rules.wait_hints import read_wait_hint\n"
        "read_wait_hint({}, ['try again at 3pm'], now=1e9)\n"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))\n"
    )
    brought = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert not forbidden & set(brought)
