"""What BuildKit prints twice of a failed step."""

from __future__ import annotations

import pytest

from rerail.evidence.payload import from_payload
from rerail.recipes import load
from rerail.rules import classify

RULES = load(None).rules
STEP = """#7 [3/5] RUN pytest -q
#7 0.300 =================================== FAILURES ===================================
#7 0.400 __________________________ test_put __________________________
#7 0.900 >       assert msg == "full"
#7 1.000 E       AssertionError: assert '[Errno 28] No space left on device' == 'full'
#7 1.100 E         + [Errno 28] No space left on device
#7 1.600 =========================== short test summary info ============================
#7 1.700 FAILED test_disk.py::test_put - AssertionError: assert '[Er...
#7 1.800 1 failed in 3.68s
#7 ERROR: process "/bin/sh -c pytest -q" did not complete successfully: exit code: 1
"""
REPEATED = """------
 > [3/5] RUN pytest -q:
1.100 E         + [Errno 28] No space left on device
1.800 1 failed in 3.68s
------
ERROR: failed to solve: process "/bin/sh -c pytest -q" did not complete successfully: exit code: 1
"""


@pytest.mark.parametrize("log", [STEP, STEP + REPEATED], ids=["shown once", "repeated"])
def test_what_a_failed_step_repeats_says_no_more_than_the_step(log: str) -> None:
    given = classify(from_payload({"command": "docker build .", "exit_code": 1, "stderr": log}), RULES, now=0.0)
    assert given.class_ == "verification"


def test_what_stands_only_in_the_report_is_read() -> None:
    log = REPEATED.replace("1.800 1 failed in 3.68s\n", "").replace("E         + ", "cp: ")
    given = classify(from_payload({"command": "docker build .", "exit_code": 1, "stderr": log}), RULES, now=0.0)
    assert given.reason == "disk-full"
