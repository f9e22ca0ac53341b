"""What a program is for, where nothing it prints is known: a failing checker objects to the code, an installer lacks something.

It runs last and states only a family (`OBJECTED`, `ENDED`, `LACKS`, `REFUSED`), so that whatever knows the words wins.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled
from rerail.rules.readers.checks import COUNT, ERROR, FINDING, names_an_error
from rerail.rules.readers.generic import says_nothing
from rerail.rules.readers.judged import FAILED, RAISED
from rerail.rules.readers.lint import LINT
from rerail.rules.readers.model import Weight
from rerail.rules.readers.programs import AROUND, CHECKERS, INSTALLERS, STACKERS

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

COULD_NOT_RUN = 124
"""From this exit status on, it was the shell or a signal that spoke."""
OBJECTED, ENDED, LACKS, REFUSED = "purpose:objected", "purpose:ended", "purpose:lacks", "purpose:refused"

_CHECKING = compiled(
    r"""(?x)(?:^|[\s/])(?:
      mix\ (?:test|credo|dialyzer|sobelow|format|xref|coveralls|doctor)
    | cargo\ (?:test|t|clippy|fmt|nextest|audit|deny|miri|kani|semver-checks|machete|udeps|tarpaulin
        |llvm-cov|vet|geiger|mutants|outdated)
    | go\ (?:test|vet) | dart\ (?:test|analyze|format) | flutter\ (?:test|analyze) | swift\ test | zig\ (?:build\ test|test|fmt)
    | rebar3\ (?:eunit|ct|proper|xref|dialyzer|lint) | terraform\ (?:validate|fmt|test) | tofu\ (?:validate|fmt|test)
    | helm\ (?:lint|unittest) | forge\ (?:test|snapshot|fmt|coverage) | bun\ test | deno\ (?:test|lint|fmt|check) | node\ --test
    | npm\ audit | yarn\ (?:npm\ )?audit | pnpm\ audit | bundle\ audit | composer\ audit | uv\ audit | dotnet\ (?:test|format)
    | dbt\ test | great_expectations\ checkpoint | sbt\ .{0,40}(?:test|[cC]heck|scalafix) | cabal\ (?:test|check) | stack\ test
    | dune\ (?:test|runtest|build\ @(?:fmt|runtest|lint|check)) | nimble\ test | raco\ test | lein\ (?:test|eastwood|kibit|cljfmt)
    | gradlew?\ .{0,60}(?:[lL]int|[cC]heckstyle|[dD]etekt|[sS]potless|ktfmt|[pP]md|[sS]potbugs|apiCheck
        |japicmp|[cC]overage)
    | (?:mvn|mvnw)\ .{0,60}(?:checkstyle:|spotbugs:|pmd:|spotless:|sonar:|dependency-check:|formatter:)
    | pre-commit\ run | semgrep\ (?:ci|scan) | trivy\ (?:image|fs|config|repo) | snyk\ (?:test|code|iac) | st\ run | dvc\ test
    | anchor\ test | sui\ move\ test | aptos\ move\ test | scarb\ test | snforge\ test | truffle\ test | hardhat\ test | ape\ test
    | scalafixAll | react-scripts\ test | ng\ (?:test|lint|e2e) | nx\ (?:lint|test|e2e) | vue-cli-service\ (?:lint|test)
    | astro\ check | nuxi\ typecheck | next\ lint | buf\ (?:lint|breaking) | oasdiff\ breaking
    | graphql-inspector\ (?:diff|validate)
    )(?:$|[\s:])"""
)

_JUDGING = compiled(
    r"(?:^|[\s:/@])(?:lint|validate|check|verify|test|audit|spec|typecheck|type-check|check-types)(?:$|[\s:])"
)
"""An argument that asks any program to judge."""
_OTHERS = frozenset(
    {
        "git",
        "docker",
        "podman",
        "kubectl",
        "oc",
        "aws",
        "gcloud",
        "az",
        "ssh",
        "curl",
        "wget",
        "gh",
        "glab",
        "claude",
        "codex",
    }
    | {"mvn", "mvnw", "gradle", "gradlew", "sbt", "make", "npm"}
)
"""Programs that do something else under such an argument."""
_UNABLE = compiled(
    r"\b(?:missing the dependenc\w+|missing (?:a |the )?(?:module|package|dependenc\w+|system librar\w+)|not installed"
    r"|is not found|can.t load config|(?:cannot|could not|unable to|failed to) (?:load|start|launch"
    r"|find (?:the )?(?:module|config\w*|package|plugin|executable|binary))"
    r"|used to build|this version of \w+ requires|you are using \w+ v?\d|command not found|no such file or directory"
    r"|no default (?:\w+ )?is configured|authentication (?:error|failed|required)|not authorized"
    r"|(?:token|api key|credentials?|login) (?:is |are |was )?(?:not valid|invalid|expired|rejected))\b"
)
"""A checker that did not come to check, in lower case."""
_UNABLE_CHARS = 100_000
_TROUBLE = compiled(
    r"(?i)\b(?:error|fail|failed|failure|failing|warn|warning|violat\w*|unused|not|no|mismatch\w*|differ\w*|expected|danger|high"
    r"|critical|fatal|found|removed|missing|should|must|invalid|undefined|unsolved|incomplete|changed?|too|cannot|vulnerab\w*)\b"
    r"|[✖✘✗❌🚨]"
)
_LACKS = compiled(
    r"(?i)\b(?:not (?:be )?(?:found|installed|available|located|resolved|provided|configured|inside|supported|satisfied)|no such"
    r"|unknown|does not exist|could ?n.t find"
    r"|(?:cannot|can.t|could not|unable to|failed to) (?:find|locate|satisfy|resolve|load|query)"
    r"|no (?:\w+ ){0,4}(?:found|provider|match\w*|interpreter|ebuilds?|nodes?|plugin|version|compatible)"
    r"|missing|requires?|required|must be set|incompatible|unsupported|out of date|mismatch)\b"
)
_RUNS = compiled(r"\s(?:run|run-script|exec|start|test|x|dlx|task|script|call|repl)(?:\s|$)")
"""Under these, an installer runs a program of the project, whose words are its own."""
_REFUSES = compiled(r"(?i)\b(?:error|fatal|abort\w*|refus\w*|conflict\w*|cannot|can.t|could not|failed|not|no)\b")
_WARNS = compiled(r"(?i)\W{0,3}(?:npm )?warn(?:ing)?\b")
_STATED = frozenset({FINDING, COUNT, FAILED, RAISED, LINT})


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """State what the failure of a program of known purpose means, where nothing in its output is known."""
    if (scene.evidence.exit_code or 0) >= COULD_NOT_RUN:
        return
    if any(value in _STATED for draft in drafts for kind, value, _ in draft.facts if kind == "code"):
        return
    rest = scene.tools - AROUND
    is_checker = rest <= CHECKERS and (rest or _CHECKING.search(scene.command))
    if is_checker or (not scene.tools & _OTHERS and _JUDGING.search(scene.command)):
        if not any(_UNABLE.search(draft.low[:_UNABLE_CHARS]) for draft in drafts):
            _state(drafts, OBJECTED, _TROUBLE)
            if is_checker:
                _state_last(drafts)
    elif rest <= INSTALLERS and scene.tools & INSTALLERS and not _RUNS.search(scene.command):
        _state(drafts, LACKS, _LACKS)
    elif rest and rest <= STACKERS:
        _state(drafts, REFUSED, _REFUSES)


def _state(drafts: Sequence[Draft], code: str, words: re.Pattern[str]) -> None:
    for draft in drafts:
        for index, line in enumerate(draft.bare):
            if _is_free(draft, index) and words.search(line) and (code == OBJECTED or not _WARNS.match(line)):
                _say(draft, index, code)
                if code == OBJECTED and names_an_error(line):
                    draft.message(ERROR, index)
                return


def _state_last(drafts: Sequence[Draft]) -> None:
    for draft in drafts:
        for index in range(len(draft) - 1, -1, -1):
            if _is_free(draft, index) and any(character.isalnum() for character in draft.bare[index]):
                _say(draft, index, ENDED)
                return


def _is_free(draft: Draft, index: int) -> bool:
    """Tell whether a line is nobody's yet, and neither noise nor part of a diff."""
    return (
        draft.weights[index] is None
        and draft.bare[index][:1] not in ("+", "-", "@")
        and not says_nothing(draft.bare[index])
    )


def _say(draft: Draft, index: int, code: str) -> None:
    draft.mark(Weight.ERROR, index)
    draft.fact("code", code, index)
