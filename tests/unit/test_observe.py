"""Events reach whoever listens, once, without secrets; and nobody who does not."""

from __future__ import annotations

import ast
import io
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
import structlog
from tests.strategies import classification, record

import rerail
from rerail.budget.model import Balance
from rerail.decisions.model import (
    Again,
    Decision,
    HandBack,
    Heal,
    Pause,
    Probe,
    Proceed,
    Repair,
    Retry,
    Stop,
    Why,
)
from rerail.ids import UnitName
from rerail.observe import BOUND, EVENTS, FIELDS, LOGGER, EventName, Observer, decision_facts, failure_facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WAIT = {"unit": "task-12", "run": "run-1", "attempt": 1, "class": "provider", "reason": "overloaded", "wait_s": 4.2}
SECRET = "Authorization: Bearer sk-abcdefghijklmnopqrstuvwxyz0123456789"


class Heard(list[tuple[str, "Mapping[str, object]"]]):
    """A callback that keeps what it was given."""

    def __call__(self, name: str, fields: Mapping[str, object]) -> None:
        self.append((name, fields))


class Records(logging.Handler):
    """A handler that keeps its records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    """Nobody listens when a test starts, pytest's own log capture included, and nobody is left listening."""
    root, ours = logging.getLogger(), logging.getLogger(LOGGER)
    handlers, root.handlers = root.handlers, []
    structlog.reset_defaults()
    yield
    root.handlers, ours.handlers, ours.propagate = handlers, [], True
    ours.setLevel(logging.NOTSET)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture
def handler() -> Records:
    """A handler on the logger of ours, at every level."""
    handler = Records()
    logging.getLogger(LOGGER).addHandler(handler)
    logging.getLogger(LOGGER).setLevel(logging.DEBUG)
    return handler


@pytest.fixture
def structured() -> Sequence[Mapping[str, Any]]:
    """What a program that configured structlog gets."""
    capture = structlog.testing.LogCapture()
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, capture])
    return capture.entries


def emit(observer: Observer, **more: object) -> None:
    observer.emit("wait.started", **{**WAIT, **more})


def emitted(module: ast.Module) -> Iterator[ast.Call]:
    """Every call of an ``emit``."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "emit":
            yield node


ROWS = {str(name): spec for name, spec in EVENTS.items()}


class TestTable:
    def test_every_name_has_its_row(self) -> None:
        assert set(EVENTS) == set(get_args(EventName))

    @pytest.mark.parametrize("name", EVENTS)
    def test_every_field_of_a_row_is_explained(self, name: EventName) -> None:
        spec = EVENTS[name]
        assert spec.meaning
        assert set(spec.fields) <= set(FIELDS) - set(BOUND)
        assert len(set(spec.fields)) == len(spec.fields)

    def test_every_explained_field_is_used(self) -> None:
        assert {field for spec in EVENTS.values() for field in spec.fields} | set(BOUND) == set(FIELDS)

    def test_no_field_has_a_name_that_logging_refuses(self) -> None:
        assert not set(FIELDS) & {"message", "asctime", *vars(logging.makeLogRecord({}))}

    def test_whatever_the_source_emits_is_in_the_table(self) -> None:
        for file in Path(rerail.__file__).parent.rglob("*.py"):
            for call in emitted(ast.parse(file.read_text(encoding="utf-8"))):
                (name,) = call.args
                if isinstance(name, ast.Constant):  # else it passes on what it was given
                    given = {keyword.arg.rstrip("_") for keyword in call.keywords if keyword.arg}
                    assert given <= {*ROWS[str(name.value)].fields, *BOUND}, (file, name.value)

    def test_an_event_that_is_not_in_the_table_is_a_bug(self) -> None:
        with pytest.raises(KeyError):
            Observer(Heard()).emit("wait.stopped")  # type: ignore[arg-type]  # the type checker sees it too


class TestQuiet:
    def test_nobody_listens_by_default(self, capfd: pytest.CaptureFixture[str]) -> None:
        observer = Observer()
        emit(observer)
        observer.failure(record(Repair()))
        assert not observer.listens
        assert capfd.readouterr() == ("", "")

    def test_a_program_without_logging_gets_none_imported(self) -> None:
        code = (
            "import sys, rerail.observe as o; e = o.Observer(); e.emit('wait.started', wait_s=1.0);"
            "print(e.listens, sorted({'logging', 'structlog'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("False []\n", "")

    def test_an_imported_but_not_configured_structlog_prints_nothing(self, capfd: pytest.CaptureFixture[str]) -> None:
        emit(Observer())
        assert capfd.readouterr() == ("", "")

    def test_a_handler_below_the_level_hears_nothing(self, handler: Records) -> None:
        logging.getLogger(LOGGER).setLevel(logging.WARNING)
        observer = Observer()
        emit(observer)
        assert not observer.listens
        observer.failure(record(Repair()))
        assert [each.event for each in handler.records] == ["failure.classified"]  # type: ignore[attr-defined]  # a field

    def test_off_is_off(self, handler: Records, structured: Sequence[Mapping[str, Any]]) -> None:
        observer = Observer(log="off")
        observer.failure(record(Repair()))
        assert not observer.listens
        assert (handler.records, structured) == ([], [])

    def test_another_word_for_it_is_told(self) -> None:
        with pytest.raises(ValueError, match="log must be 'json', 'console' or 'off', got 'xml'"):
            Observer(log="xml")


class TestCallback:
    def test_it_gets_name_and_fields(self) -> None:
        heard = Heard()
        observer = Observer(heard, log="off")
        emit(observer)
        assert observer.listens
        assert heard == [("wait.started", WAIT)]

    def test_class_may_be_written_as_python_must(self) -> None:
        heard = Heard()
        Observer(heard).emit("wait.started", class_="git", wait_s=None)
        assert heard == [("wait.started", {"class": "git"})]

    def test_it_is_given_beside_the_log(self, handler: Records) -> None:
        heard = Heard()
        emit(Observer(heard))
        assert (len(heard), len(handler.records)) == (1, 1)

    def test_what_it_raises_is_told_as_a_warning_and_the_log_still_gets_the_event(self, handler: Records) -> None:
        def broken(name: str, fields: Mapping[str, object]) -> None:
            raise RuntimeError(SECRET)

        with pytest.warns(RuntimeWarning, match=r"on_event raised RuntimeError") as told:
            emit(Observer(broken))
        assert "sk-abc" not in str(told[0].message)
        assert len(handler.records) == 1

    def test_a_cancellation_that_it_raises_passes(self) -> None:
        def stop(name: str, fields: Mapping[str, object]) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            emit(Observer(stop))

    def test_an_error_whose_text_cannot_be_had_is_told_all_the_same(self) -> None:
        class Mute(Exception):
            def __str__(self) -> str:
                raise ValueError

        def broken(name: str, fields: Mapping[str, object]) -> None:
            raise Mute

        with pytest.warns(RuntimeWarning, match="on_event raised .*Mute"):
            emit(Observer(broken))

    def test_values_come_plain_printable_and_without_secrets(self) -> None:
        heard = Heard()
        Observer(heard).emit(
            "unit.refused",
            unit=UnitName("task\n\x1b[2J"),
            detail=SECRET,
            reason=Why.CLASS,
            attempt=True,
            run=[Path("a"), ("b", 1)],
        )
        fields = heard[0][1]
        assert "sk-abc" not in str(fields)
        assert "[redacted:" in str(fields["detail"])
        assert fields["unit"] == "task\\n\\x1b[2J"
        assert (type(fields["reason"]), fields["reason"]) == (str, "class")
        assert fields["run"] == ["a", ["b", 1]]


class TestLogging:
    def test_the_message_says_what_happened_and_the_fields_are_the_records(self, handler: Records) -> None:
        observer = Observer()
        emit(observer)
        (got,) = handler.records
        assert observer.listens
        message = "wait.started unit=task-12 class=provider/overloaded wait_s=4.2"
        assert (got.name, got.levelname, got.getMessage()) == ("rerail", "INFO", message)
        assert {key: value for key, value in vars(got).items() if key in WAIT} == WAIT

    def test_a_handler_of_the_root_logger_is_enough(self) -> None:
        handler = Records()
        logging.getLogger().addHandler(handler)
        Observer().failure(record(Repair()))
        assert [each.event for each in handler.records] == ["failure.classified"]  # type: ignore[attr-defined]  # a field

    def test_a_failure_is_readable_where_only_messages_are_shown(self, handler: Records) -> None:
        named = classification("provider/timeout")._replace(summary='it said "no" at 100% =\x1b[2J')
        Observer().failure(record(Retry(4.2), named=named))
        message = handler.records[0].getMessage()
        assert message.startswith("failure.classified unit=verify:tests class=provider/timeout failure=")
        assert 'failure="it said \\"no\\" at 100% =\\x1b[2J" decision=retry wait_s=4.2' in message

    def test_records_of_one_event_share_their_template(self, handler: Records) -> None:
        emit(Observer(), wait_s=1.0)
        emit(Observer(), wait_s=2.0)
        assert len({got.msg for got in handler.records}) == 1

    def test_what_the_program_bound_to_structlogs_context_comes_along(self, handler: Records) -> None:
        structlog.contextvars.bind_contextvars(request="r-7", name="taken", unit="ours goes first")
        emit(Observer())
        got = vars(handler.records[0])
        assert (got["request"], got["rerail_name"], got["name"], got["unit"]) == ("r-7", "taken", "rerail", "task-12")


class TestStructlog:
    def test_a_program_that_configured_it_gets_events_through_it_and_not_twice(
        self, structured: Sequence[Mapping[str, Any]], handler: Records
    ) -> None:
        structlog.contextvars.bind_contextvars(request="r-7")
        observer = Observer()
        emit(observer)
        observer.failure(record(Repair()))
        assert observer.listens
        assert structured[0] == {**WAIT, "event": "wait.started", "log_level": "info", "request": "r-7"}
        assert (structured[1]["event"], structured[1]["log_level"]) == ("failure.classified", "warning")
        assert handler.records == []

    def test_a_logger_that_was_handed_in_goes_before_it(self, structured: Sequence[Mapping[str, Any]]) -> None:
        own = structlog.testing.LogCapture()
        emit(Observer(logger=structlog.wrap_logger(None, processors=[own]).bind(host="h1")))
        assert own.entries == [{**WAIT, "host": "h1", "event": "wait.started", "log_level": "info"}]
        assert structured == []


class TestStderr:
    def test_json_is_one_object_a_line(self, capsys: pytest.CaptureFixture[str], handler: Records) -> None:
        structlog.contextvars.bind_contextvars(request="r-7")
        observer = Observer(log="json")
        emit(observer)
        observer.emit("attempt.started", unit="task\n12")
        out, err = capsys.readouterr()
        first, second = map(json.loads, err.splitlines())
        assert first.pop("timestamp").endswith("Z")
        assert first == {**WAIT, "event": "wait.started", "level": "info", "request": "r-7"}
        assert (second["unit"], second["level"]) == ("task\\n12", "debug")
        assert (out, handler.records, observer.listens) == ("", [], True)

    def test_the_programs_own_structlog_stays_as_it_was(self, capsys: pytest.CaptureFixture[str]) -> None:
        emit(Observer(log="json"))
        assert capsys.readouterr().err
        assert not structlog.is_configured()

    def test_console_is_for_people_and_has_no_colours_off_a_terminal(self, capsys: pytest.CaptureFixture[str]) -> None:
        emit(Observer(log="console"))
        (line,) = capsys.readouterr().err.splitlines()
        assert "wait.started" in line
        assert "wait_s=4.2" in line
        assert "\x1b" not in line

    @pytest.mark.parametrize("log", ["json", "console"])
    def test_a_closed_stderr_ends_nothing(self, log: str, monkeypatch: pytest.MonkeyPatch) -> None:
        closed = io.StringIO()
        observer = Observer(log=log)
        closed.close()
        monkeypatch.setattr(sys, "stderr", closed)
        emit(observer)


class TestFailure:
    def test_its_event_has_the_facts_of_its_block(self) -> None:
        heard = Heard()
        named = classification("provider/rate-limit", retry_after_s=3.0)
        Observer(heard).failure(
            record(Retry(4.2), named=named, balance=Balance(UnitName("u"), "provider", budget=5, spent=2))
        )
        assert heard == [
            (
                "failure.classified",
                {
                    "unit": "verify:tests",
                    "run": "run-1",
                    "attempt": 1,
                    "class": "provider",
                    "reason": "rate-limit",
                    "rule": "rule-rate-limit",
                    "failure": "what happened: rate-limit",
                    "source": "stderr",
                    "line": 14,
                    "evidence": "error: rate-limit",
                    "retry_after_s": 3.0,
                    "may_have_landed": False,
                    "decision": "retry",
                    "wait_s": 4.2,
                    "remaining": 3,
                    "budget": 5,
                },
            )
        ]

    def test_its_fields_are_those_of_the_table(self) -> None:
        decisions: list[Decision] = [
            Retry(1.0),
            Repair(),
            Heal(),
            Probe(),
            Pause(Why.CLASS, 7.0),
            Stop(Why.ABORTED),
            HandBack(),
            Proceed(),
            Again(),
        ]
        given = {field for decision in decisions for field in failure_facts(record(decision))}
        assert given == {*EVENTS["failure.classified"].fields, *BOUND}

    def test_without_evidence_it_has_no_place(self) -> None:
        heard = Heard()
        Observer(heard).failure(record(Pause(Why.CLASS), named=classification()._replace(evidence=(), rule="")))  # type: ignore[arg-type]  # a slug is text
        assert not {"source", "line", "evidence", "plan", "remaining"} & set(heard[0][1])

    @pytest.mark.parametrize(
        ("decision", "facts"),
        [
            (Pause(Why.RESUME_LATER, 7.0), {"decision": "pause", "why": "resume-later", "resume_at_s": 7.0}),
            (Stop(Why.CLASS), {"decision": "stop", "why": "class"}),
            (HandBack(), {"decision": "hand-back"}),
            (Heal(), {"decision": "heal"}),
            (Probe(), {"decision": "probe"}),
            (Proceed(), {"decision": "proceed"}),
            (Again(), {"decision": "again"}),
        ],
    )
    def test_a_decision_as_fields(self, decision: Decision, facts: dict[str, object]) -> None:
        assert decision_facts(decision) == facts
