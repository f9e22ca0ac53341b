"""What peers are given is all that can be known of a failure, and their labels become classes that exist."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from rerail.evidence.payload import from_payload
from rerail.taxonomy import BUILT_IN

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "scoreboard.py"


@pytest.fixture(scope="module")
def scoreboard() -> Any:
    spec = importlib.util.spec_from_file_location("scoreboard", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_label_of_every_peer_means_a_class(scoreboard: Any) -> None:
    classes = {str(spec.name) for spec in BUILT_IN}
    for peer in scoreboard.PEERS:
        assert peer.labels
        for label, meant in peer.labels.items():
            assert meant, label
            assert set(meant) <= classes, label


@pytest.mark.parametrize(
    ("payload", "kind", "attributes"),
    [
        ({"stderr": "Traceback (most recent call last):\n  File x\nTimeoutError: read"}, TimeoutError, {}),
        ({"message": "x", "exception_type": "builtins.ConnectionResetError"}, ConnectionResetError, {}),
        (
            {"message": "x", "exception_type": "openai.RateLimitError", "http_status": 429},
            Exception,
            {"status_code": 429},
        ),
        ({"stderr": "HTTP 503 Service Unavailable"}, Exception, {"status": 503}),
        ({"message": "x", "exception_type": "UnicodeDecodeError"}, UnicodeDecodeError, {}),
        ({"message": "x", "exception_type": "no.such.Thing"}, Exception, {}),
    ],
)
def test_a_failure_is_raised_as_a_wrapper_would_have_raised_it(
    payload: dict[str, Any], kind: type[Exception], attributes: dict[str, object], scoreboard: Any
) -> None:
    raised = scoreboard.exception_of(from_payload(payload))
    assert isinstance(raised, kind)
    assert {name: getattr(raised, name) for name in attributes} == attributes


def test_the_name_of_an_exception_is_kept_where_its_library_is_absent(scoreboard: Any) -> None:
    raised = scoreboard.exception_of(from_payload({"message": "slow", "exception_type": "openai.APITimeoutError"}))
    assert (type(raised).__name__, str(raised)) == ("APITimeoutError", "slow")
