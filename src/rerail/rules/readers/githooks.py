"""Reads commit hooks: tells a verdict on the change from a hook that could not do its work.

A hook that ran and refused speaks for git, whatever tool it ran. Where its own machinery failed (a program that is missing, a
registry out of reach, a crash), the frame around it ("pre-commit script failed") is an echo, and what failed decides.
"""

from __future__ import annotations

from itertools import pairwise

from rerail.light_typing import TYPE_CHECKING
from rerail.rules.readers.lazy import lazy
from rerail.rules.readers.model import Draft, Scene, Weight

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

REFUSED = "git-hook-refused"
"""The code that a line states when it is a hook's verdict; rules ask for it."""

_HOOKED = lazy(r"\bgit (?:-[cC] \S+ )?(?:commit|am|push)\b[^&;|]*$")
_FRAME = lazy(
    r"(?i)^(?:husky - .{0,40}(?:failed|exited)|husky > |husky - command not found|- hook id: |- exit code: |- duration: |"
    r".{0,20}\b(?:pre-commit|commit-msg|pre-push|prepare-commit-msg)[ -](?:hook|script) "
    r"(?:failed|exited|rejected|refused|declined))"
)
"""Lines in which a hook manager says that a hook failed."""
_FRAME_WORDS = ("hook", "husky", "script", "- exit code: ", "- duration: ")
_VERDICT = lazy(
    r"(?i)\b\d+ (?:failed|errors?|problems?|warnings?|offenses|violations|failures)\b|\berror TS\d|^FAILED |\bwould reformat\b|"
    r"\bFound \d+ error|\bassert|\bnot ok \d|^\S+:\d+:\d+:? "
)
"""Signs that a tool inside the hook ran and judged."""
_VERDICT_WORDS = (
    "fail", "error", "problem", "warning", "offenses", "violations", "would reformat", "assert", "not ok ", ":",
)  # fmt: skip
_BROKEN = lazy(
    r"(?:\(code 12[67]\)|\bexit(?:ed with)? (?:code|status):? 12[67])|: (?:command )?not found$|\bcommand not found\b|"
    r"\bExecutable `?[^`]{1,200}`? not found|: No such file or directory$|\bCannot find (?:module|package)\b|"
    r"^(?:ModuleNotFoundError|ImportError): |\bENOENT\b|\bSegmentation fault\b|\bKilled\b|\b(?:npm|pnpm) (?:error|ERR!) code E|"
    r"\bCould not resolve host\b|\b(?:ECONNREFUSED|ENOTFOUND|ETIMEDOUT|ECONNRESET|EAI_AGAIN)\b|\bNo space left on device\b|"
    r"\bInvalidConfigError\b|\bcould not find any valid configuration\b|\bNo \.pre-commit-config\.yaml\b|"
    r"\bAn unexpected error has occurred\b|\bPermission denied\b|\bis unstaged\b"
)
"""Signs that the hook could not do its work."""
_BROKEN_WORDS = (
    "(code 12", "exit", "not found", "no such file", "cannot find", "error", "enoent", "segmentation fault", "killed", "err!",
    "could not", "econn", "enotfound", "etimedout", "eai_again", "no space left", "no .pre-commit-config", "permission denied",
    "is unstaged",
)  # fmt: skip
_SURELY_BROKEN_WORDS = ("(code 12", "exit", "executable `")
_SURELY_BROKEN = lazy(
    r"\(code 12[67]\)|\bexit(?:ed with)? (?:code|status):? 12[67]|\bExecutable `[^`]{1,200}` not found"
)
_GIT_SPEAKS = lazy(
    r"^(?:fatal|error|hint|usage|remote): |^ ! \[|^(?:nothing|no changes) (?:added )?to commit|^nothing added to commit|"
    r"^Aborting commit|: needs merge$|^CONFLICT|^Automatic merge failed|^\*\*\* Please|^On branch |^HEAD detached|^No changes|"
    r"^Not committing merge|^Patch failed at|^(?:Your|The) (?:branch|local|following)|^Everything up-to-date"
)
"""Lines by which git says itself why it stopped."""
_PUSH_ECHO = lazy(r"^error: failed to push some refs to ")
_STARTS = lazy(r"\.{3,}(?:\(.{1,40}\))?(?:Failed|Passed|Skipped)$")
_REWRITTEN = "- files were modified by this hook"
_LEFTHOOK_FAILED = lazy(r"^\W{0,3}🥊 (?!lefthook)\S")


_BY_HAND = frozenset({"pre-commit", "prek"})


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Let a verdict decide; of broken machinery, let only the cause be seen as one."""
    if not scene.tools.isdisjoint(_BY_HAND) and "git" not in scene.tools:
        # No commit was refused: what the tools inside say is the failure.
        return
    is_bare = scene.evidence.exit_code == 1 and _HOOKED.search(scene.command) is not None
    if not is_bare and not any(word in draft.low for draft in drafts for word in _FRAME_WORDS):
        return
    judged = _any(_VERDICT, _VERDICT_WORDS, drafts)
    broken = _any(_SURELY_BROKEN, _SURELY_BROKEN_WORDS, drafts) or (not judged and _any(_BROKEN, _BROKEN_WORDS, drafts))
    framed = False
    for draft in drafts:
        framed |= _read_frames(draft, Weight.WENT_ON if broken else Weight.DECIDING)
    if is_bare and not framed and not broken:
        _read_bare(drafts, scene)


def _any(pattern: re.Pattern[str], words: tuple[str, ...], drafts: Sequence[Draft]) -> bool:
    """Tell whether a pattern that cannot match without one of the lower-case *words* matches a line."""
    return any(pattern.search(draft.bare[index].strip()) for draft in drafts for index in draft.lines_with(words))


def _read_frames(draft: Draft, weight: Weight) -> bool:
    """Weigh the lines in which hook managers speak; tell whether there are any."""
    found = False
    rewritten = _read_list(draft) if _REWRITTEN in draft.low else frozenset()
    is_lefthook = "lefthook" in draft.low
    for index, line in enumerate(draft.bare):
        line = line.strip()
        if index in rewritten:
            found = True
        elif _FRAME.match(line) or (is_lefthook and _LEFTHOOK_FAILED.match(line)):
            draft.mark(weight, index)
            if weight is Weight.DECIDING:
                draft.fact("code", REFUSED, index)
            found = True
    return found


def _read_list(draft: Draft) -> frozenset[int]:
    """Of a list of hooks, let rewriting name the failure only if every hook that failed did just that; return those lines."""
    failed = [block for block in _blocks(draft) if draft.lines[block.start].rstrip().endswith("Failed")]
    rewriting = [place for block in failed for place in block if draft.lines[place].startswith(_REWRITTEN)]
    if len(rewriting) < len(failed):
        draft.mask(*rewriting)
        return frozenset()
    draft.mark(Weight.DECIDING, *rewriting)
    return frozenset(place for block in failed for place in block)


def _blocks(draft: Draft) -> Iterator[range]:
    starts = [index for index, line in enumerate(draft.lines) if _STARTS.search(line.rstrip())]
    for start, end in pairwise((*starts, len(draft))):
        yield range(start, end)


def _read_bare(drafts: Sequence[Draft], scene: Scene) -> None:
    """Take what stands before git's silent end for a hook's verdict: git itself never refuses without a word."""
    pushes = " push" in scene.command
    places = [(draft, index) for draft in drafts for index, line in enumerate(draft.lines) if line.strip()]
    if pushes:
        if not any(_PUSH_ECHO.match(draft.lines[index]) for draft, index in places):
            return
        places = [(draft, index) for draft, index in places if not _PUSH_ECHO.match(draft.lines[index])]
    if not places or any(_GIT_SPEAKS.search(draft.lines[index]) for draft, index in places):
        return
    judged = [place for place in places if _VERDICT.search(place[0].lines[place[1]])]
    draft, index = (judged or places)[-1]
    draft.mark(Weight.DECIDING, index)
    draft.fact("code", REFUSED, index)
