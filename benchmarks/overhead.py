"""What a call under recovery costs, beside other libraries, in one run: ``make bench``.

Prints microseconds of processor time per call (best of several rounds) and the ratio to tenacity. Nothing sleeps: tenacity and
rerail are given a sleep that does nothing, for `time.sleep(0)` alone costs half of what they do; the others, which take none, and
all that is awaited sleep for zero seconds.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ROUNDS = 7
SUCCESSES, FAILURES = 20_000, 1_500


def flaky() -> Callable[[], int]:
    """Return a function that fails every other time."""
    fails = cycle((True, False))

    def call() -> int:
        if next(fails):
            raise ConnectionResetError(104, "Connection reset by peer")
        return 1

    return call


def flaky_async() -> Callable[[], Awaitable[int]]:
    """Return a coroutine function that fails every other time."""
    call = flaky()

    async def awaited() -> int:
        return call()

    return awaited


def good() -> int:
    return 1


async def good_async() -> int:
    return 1


def per_call_us(function: Callable[[], Any], times: int) -> float:
    """Return the best round's time per call; garbage is collected as in any program, for some libraries make cycles of it."""
    best = float("inf")
    for _ in range(ROUNDS):
        gc.collect()
        started = time.process_time()
        for _ in range(times):
            function()
        best = min(best, time.process_time() - started)
    return best / times * 1e6


def per_await_us(function: Callable[[], Any], times: int) -> float:
    async def rounds() -> float:
        best = float("inf")
        for _ in range(ROUNDS):
            started = time.process_time()
            for _ in range(times):
                await function()
            best = min(best, time.process_time() - started)
        return best

    return asyncio.run(rounds()) / times * 1e6


def no_sleep(_wait_s: float) -> None:
    """Sleep no time at all."""


def no_wait(attempt: int, klass: object, prev_sleep_s: float | None) -> float:  # noqa: ARG001  redress reads the names
    return 0.0


def optional(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


def contenders() -> dict[str, tuple[Callable[[], Any], Callable[[], Any], Any, Any]]:
    """Return per library: a call that succeeds, one that fails once, and the same two awaited."""
    import tenacity

    from rerail import Backoff, Loop, Policy, Unit
    from rerail.budget import Window

    def retrying(function: Callable[..., Any], **how: Any) -> Any:
        limits: dict[str, Any] = {"stop": tenacity.stop_after_attempt(5), "wait": tenacity.wait_none(), "reraise": True}
        return tenacity.retry(**limits, **how)(function)

    policy = Policy(backoff=Backoff(wait=tenacity.wait_none()), window=Window(charges=10**9, length_s=1.0))
    loop = Loop(ledger="memory", policy=policy, sleep=no_sleep)
    durable = Loop(ledger=Path(tempfile.mkdtemp(), "ledger.sqlite3"), policy=policy, sleep=no_sleep)
    pure = Unit("bench", effects="none")
    once, once_async = flaky(), flaky_async()
    made: dict[str, tuple[Callable[[], Any], Callable[[], Any], Any, Any]] = {
        "bare call": (good, good, good_async, None),
        "tenacity": (
            retrying(good, sleep=no_sleep),
            retrying(flaky(), sleep=no_sleep),
            retrying(good_async),
            retrying(flaky_async()),
        ),
        "rerail, in memory": (
            lambda: loop.run(pure, good),
            lambda: loop.run(pure, once),
            lambda: loop.arun(pure, good_async),
            lambda: loop.arun(pure, once_async),
        ),
        "rerail, SQLite": (lambda: durable.run(pure, good), good, lambda: durable.arun(pure, good_async), None),
    }
    if (stamina := optional("stamina")) is not None:
        stamina.instrumentation.set_on_retry_hooks([])
        retry = stamina.retry(on=Exception, attempts=5, wait_initial=0, wait_max=0, wait_jitter=0)
        made["stamina"] = (retry(good), retry(flaky()), retry(good_async), retry(flaky_async()))
    if (backoff := optional("backoff")) is not None:
        retry = backoff.on_exception(backoff.constant, Exception, max_tries=5, interval=0, jitter=None)
        made["backoff"] = (retry(good), retry(flaky()), retry(good_async), retry(flaky_async()))
    if (redress := optional("redress")) is not None:
        policy_of = redress.RetryPolicy(classifier=redress.default_classifier, strategy=no_wait, max_attempts=5)
        again = flaky()
        made["redress"] = (lambda: policy_of.call(good), lambda: policy_of.call(again), None, None)
    return made


def import_ms(statement: str) -> float:
    """Return the processor time of a whole interpreter that runs *statement*."""
    import resource

    best = float("inf")
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", statement], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best * 1000


def main() -> None:
    measured = {}
    for name, (success, failure, awaited, awaited_failure) in contenders().items():
        measured[name] = (
            per_call_us(success, SUCCESSES),
            per_call_us(failure, FAILURES),
            per_await_us(awaited, SUCCESSES) if awaited is not None else None,
            per_await_us(awaited_failure, FAILURES) if awaited_failure is not None else None,
        )
    reference = measured["tenacity"]
    table = Table(title="microseconds per call (x tenacity)")
    for heading in ("", "succeeds", "fails once", "awaited, succeeds", "awaited, fails once"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, row in measured.items():
        cells = [
            "" if value is None else f"{value:.2f} ({value / base:.3f}x)"
            for value, base in zip(row, reference, strict=True)
            if base is not None
        ]
        if name in ("bare call", "rerail, SQLite"):
            cells[1] = ""
        table.add_row(name, *cells)
    imports = {
        each: import_ms(each)
        for each in ("pass", "import attrs", "import rerail", "from rerail import Loop", "import tenacity")
    }
    costs = Table(title="processor time of a whole interpreter, ms")
    costs.add_column("")
    costs.add_column("ms", justify="right")
    costs.add_column("x import attrs", justify="right")
    for statement, cost_ms in imports.items():
        costs.add_row(statement, f"{cost_ms:.1f}", f"{cost_ms / imports['import attrs']:.2f}")
    console = Console(width=120)
    console.print(table)
    console.print(costs)


if __name__ == "__main__":
    main()
