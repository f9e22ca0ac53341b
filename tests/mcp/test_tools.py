"""The tools through the SDK's own client in this process, in both generations of the protocol."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError
from tests.mcp.envelopes import checked

from mcp import Client
from rerail.boundary.evidence_schema import EVIDENCE_SCHEMA
from rerail.boundary.schemas import published
from rerail.cli.main import VERBS
from rerail.evidence.payload_fields import PUBLIC_FIELDS
from rerail.mcp.server import TOOLS, RerailServer
from rerail.mcp.tool import NOT_AN_OBJECT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.mcp.conftest import Place

    Call = Callable[..., dict[str, Any]]
    Talk = Callable[[Callable[[Client], Any]], Any]

UNNAMED = ["sh", "-c", "echo zzz >&2; exit 3"]
DENIED = ["sh", "-c", "echo 'HTTP 401 Unauthorized' >&2; exit 1"]


def test_every_tool_publishes_what_it_takes_and_returns(talk: Talk) -> None:
    async def listed(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = talk(listed)
    assert {tool.name for tool in tools} == set(TOOLS)
    for tool in tools:
        for schema in (tool.input_schema, tool.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert set(tool.output_schema["required"]) >= {"ok", "verb", "message", "data", "diagnostics", "hints", "error"}
        assert tool.description.endswith(".")
        assert TOOLS[tool.name].verb.split()[0] in VERBS


def test_only_tools_that_change_nothing_are_said_to_be_read_only() -> None:
    assert {tool.name for tool in TOOLS.values() if not tool.read_only} == {"check", "run", "verify", "heal", "answer"}


def test_the_evidence_schema_has_the_fields_that_evidence_has() -> None:
    assert list(EVIDENCE_SCHEMA["properties"]) == list(PUBLIC_FIELDS)


def test_a_failure_is_named(call: Call) -> None:
    envelope = call("classify", id="x", command="curl https://x", exit_code=22, stderr="HTTP 503 Service Unavailable")
    assert (envelope["ok"], envelope["verb"]) == (True, "classify")
    assert (envelope["data"]["id"], envelope["data"]["class"], envelope["data"]["action"]) == ("x", "provider", "retry")


def test_a_name_is_explained_and_an_unknown_one_offered_near_ones(call: Call) -> None:
    assert call("explain", name="provider/rate-limit")["data"]["reason"] == "provider/rate-limit"
    envelope = call("explain", name="provder")
    assert (envelope["error"], envelope["ok"]) == ("unknown-name", False)
    assert "did you mean provider" in envelope["message"]


def test_the_taxonomy_and_an_empty_ledger_are_shown(call: Call) -> None:
    assert {each["name"] for each in call("taxonomy")["data"]["classes"]} >= {"provider", "git", "unclassified"}
    assert call("ledger")["data"]["balances"] == []
    assert call("pauses")["data"]["pauses"] == []
    assert call("why")["error"] == "usage"


def test_a_directory_that_is_no_worktree_fails_its_check(call: Call) -> None:
    envelope = call("check")
    assert envelope["error"] == "worktree-refused"
    assert envelope["data"]["lines"][0]["name"] == "root"


def test_a_heal_is_planned_without_changing_anything_and_refused_where_nothing_fits(call: Call) -> None:
    failure = {"command": "git push", "exit_code": 128, "stderr": "fatal: not a git repository"}
    plan = call("heal_plan", failure=failure)
    assert plan["ok"]
    assert plan["data"]["class"] == "worktree"
    assert call("heal", failure=failure)["error"] == "stopped"


def test_nothing_is_run_that_the_operator_has_not_listed(place: Place, call: Call) -> None:
    (place.project / "rerail.toml").write_text("[budgets]\nprovider = 1\n")
    envelope = call("run", command=["touch", "made"])
    assert envelope["error"] == "not-allowed"
    assert envelope["data"]["entry"] == 'commands = ["touch made"]'
    assert envelope["data"]["file"] == str(place.config / "rerail" / "mcp.toml")
    assert not (place.project / "made").exists()


def test_a_project_cannot_allow_its_own_commands(place: Place, call: Call) -> None:
    """What an agent may do is never read from a file that the agent may write."""
    (place.project / "rerail.toml").write_text('[mcp]\ncommands = ["touch made"]\n')
    assert call("run", command=["touch", "made"])["error"] == "not-allowed"
    assert not (place.project / "made").exists()


def test_a_listed_command_runs_and_its_output_comes_back(place: Place, call: Call) -> None:
    place.allow(commands=["sh ..."])
    envelope = call("run", command=["sh", "-c", "cat; echo out; echo err >&2"], unit="u")
    assert envelope["ok"]
    assert envelope["data"]["outcome"] == "succeeded"
    assert envelope["data"]["output"] == {"stdout": "out", "stderr": "err"}


def test_a_failed_command_is_named_recorded_and_asked_about(place: Place, call: Call) -> None:
    place.allow(commands=["sh ..."])
    envelope = call("run", command=UNNAMED, unit="u")
    assert (envelope["error"], envelope["data"]["outcome"]) == ("unclassified", "paused")
    assert envelope["data"]["output"] == {"stderr": "zzz"}
    (pause,) = call("pauses")["data"]["pauses"]
    assert pause["unit"] == "u"
    assert call("why", event=pause["id"])["data"]["classification"]["class"] == "unclassified"
    assert call("ledger", unit="u", failures=True)["data"]["events"][0]["class"] == "unclassified"


def test_no_pause_is_an_agents_to_answer_unless_the_operator_says_so(place: Place, call: Call) -> None:
    place.allow(commands=["sh ..."])
    rule = call("run", command=DENIED, unit="u")["data"]["failures"][0]["rule"]
    (pause,) = call("pauses")["data"]["pauses"]
    refused = call("answer", pause=pause["id"], answer="retry")
    assert (refused["error"], refused["data"]["entry"]) == ("not-allowed", f'answers = ["{rule}"]')
    assert call("pauses")["data"]["pauses"][0]["answer"] is None

    place.allow(commands=["sh ..."], answers=[rule])
    answered = call("answer", pause=pause["id"], answer="skip", note="by the agent")
    assert answered["ok"]
    assert answered["data"]["pause"]["answer"] == "skip"
    assert call("answer", pause=pause["id"], answer="retry")["error"] == "already-answered"


def test_an_agent_never_lifts_a_spent_budget(place: Place, call: Call) -> None:
    (place.project / "rerail.toml").write_text("[budgets]\nprovider = 0\n")
    place.allow(commands=["sh ..."])
    down = ["sh", "-c", "echo 'HTTP 503 Service Unavailable' >&2; exit 22"]
    ended = call("run", command=down, unit="u", effects="none")
    place.allow(commands=["sh ..."], answers=[ended["data"]["failures"][0]["rule"]])
    assert ended["data"]["why"] == "budget-spent"
    refused = call("answer", pause=ended["data"]["pause"], answer="retry")
    assert (refused["error"], refused["data"]["entry"]) == ("not-allowed", "no entry covers this")


BAD_CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("explain", {}, "name"),
    ("explain", {"name": 7}, "name"),
    ("explain", {"name": "git", "nmae": "x"}, "nmae"),
    ("ledger", {"last": 0}, "last"),
    ("ledger", {"last": True}, "last"),
    ("run", {"command": []}, "command"),
    ("run", {"command": "ls -l"}, "command"),
    ("run", {"command": ["ls"], "timeout_s": -1}, "timeout_s"),
    ("run", {"command": ["ls"], "effects": "some"}, "effects"),
    ("answer", {"pause": "p1", "answer": "maybe"}, "answer"),
    ("heal", {"failure": "boom"}, "failure"),
]


@pytest.mark.parametrize(("tool", "arguments", "key"), BAD_CALLS)
def test_arguments_that_a_tool_does_not_take_are_told_by_their_names(
    call: Call, tool: str, arguments: dict[str, Any], key: str
) -> None:
    envelope = call(tool, **arguments)
    assert envelope["error"] == "usage"
    assert key in {each["key"].split(".")[0] for each in envelope["diagnostics"]}
    assert [hint["id"] for hint in envelope["hints"]] == ["correct-and-run-again"]


def test_a_tool_that_does_not_exist_is_a_result_too(call: Call) -> None:
    envelope = call("clasify")
    assert (envelope["error"], envelope["verb"]) == ("unknown-name", "mcp")
    assert "did you mean classify" in envelope["message"]


def test_evidence_with_a_slip_is_told(call: Call) -> None:
    envelope = call("classify", stdrr="x")
    assert envelope["error"] == "evidence-invalid"
    assert "did you mean stderr" in envelope["message"]
    assert call("classify")["error"] == "evidence-invalid"


def test_arguments_that_are_no_object_are_a_result_and_no_protocol_error(place: Place) -> None:
    async def main(value: object) -> dict[str, Any]:
        async with Client(RerailServer(place.project).sdk, mode="legacy") as client:
            dispatcher = client.session._dispatcher
            raw = await dispatcher.send_raw_request("tools/call", {"name": "explain", "arguments": value})
            return dict(raw["structuredContent"])

    for value in ("x", 7, ["a"], True):
        envelope = anyio.run(main, value)
        assert envelope["error"] == "usage"
        assert envelope["message"].startswith("explain: the arguments must be an object, got ")
        assert NOT_AN_OBJECT not in envelope["message"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
hostile = st.sampled_from(
    [
        "\x1b]0;owned\x07",
        "\u202egnp.exe",
        "```\nrecovery-classification:",
        "a\x00b",
        "\ud800",
        "../../etc/passwd",
        "; rm -rf /",
    ]
)
names = st.sampled_from(
    [*PUBLIC_FIELDS, "name", "event", "unit", "failures", "last", "failure", "pause", "answer", "note"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*(set(TOOLS) - {"check", "heal", "heal_plan"}), "no-such-tool"]),
            st.dictionaries(names | st.text(max_size=10), json_values | hostile, max_size=5),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_hostile_arguments_come_back_as_envelopes(place: Place, calls: list[tuple[str, dict[str, Any]]]) -> None:
    async def main() -> None:
        async with Client(RerailServer(place.project).sdk) as client:
            for tool, arguments in calls:
                envelope = checked(await client.call_tool(tool, arguments))
                assert envelope["error"] != "internal", envelope["data"]
                assert "\x1b" not in json.dumps(envelope, ensure_ascii=False).replace("\\u001b", "")

    anyio.run(main)


def test_resources_are_listed_and_read(talk: Talk) -> None:
    async def read(client: Client) -> dict[str, Any]:
        uris = [resource.uri for resource in (await client.list_resources()).resources]
        contents = {uri: (await client.read_resource(uri)).contents[0] for uri in uris}
        return {uri: json.loads(getattr(content, "text", "")) for uri, content in contents.items()}

    found = talk(read)
    assert {
        "rerail://taxonomy",
        "rerail://recipes",
        "rerail://schemas/envelope",
        "rerail://schemas/evidence",
    } <= found.keys()
    assert found["rerail://schemas/evidence"] == published("evidence")
    names = {recipe["name"] for recipe in found["rerail://recipes"]["recipes"]}
    assert {f"rerail://recipes/{name}" for name in names} <= found.keys()
    assert all(found[f"rerail://recipes/{name}"]["rules"] is not None for name in names)


@pytest.mark.parametrize("uri", ["rerail://nothing", "rerail://recipes/../secrets", "file:///etc/passwd"])
def test_a_resource_that_does_not_exist_is_refused(talk: Talk, uri: str) -> None:
    async def read(client: Client) -> None:
        with pytest.raises(MCPError, match="there is no resource"):
            await client.read_resource(uri)

    talk(read)
