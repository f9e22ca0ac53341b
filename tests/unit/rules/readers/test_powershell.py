"""Errors of PowerShell, whose message stands inside the frame that quotes the script."""

from __future__ import annotations

from rerail.evidence.payload import from_payload
from rerail.recipes import load
from rerail.rules import classify

RULES = load(None).rules
FRAME = """ci.ps1:3
Line |
   3 |  acme --timeout 429
     |  ~~~~
     | The term 'acme' is not recognized as a name of a cmdlet, function, script file, or executable program.
Check the spelling of the name, or if a path was included, verify that the path is correct and try again.
"""


def test_the_message_below_the_underlined_place_names_the_failure_and_is_cited() -> None:
    given = classify(from_payload({"command": "pwsh ci.ps1", "exit_code": 1, "stderr": FRAME}), RULES, now=0.0)
    assert (given.class_, given.reason) == ("environment", "missing-executable")
    assert given.evidence[0].line == 5


def test_the_script_that_is_quoted_names_nothing() -> None:
    quoted = "Line |\n   3 |  throw 'No space left on device'\n     |  ~~~~~\n     | boom\n"
    given = classify(from_payload({"command": "pwsh ci.ps1", "exit_code": 1, "stderr": quoted}), RULES, now=0.0)
    assert given.class_ == "unclassified"
