"""Reads package managers: what they print before an echo such as "No matching distribution" is the cause, and advice is masked.

Source: npm's `lib/utils/error-message.js`; pip's `_internal/index` and `_internal/network`; observed.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled
from rerail.rules.readers.model import Weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

_NPM_CODE = compiled(
    r"^npm (?:error|ERR!) (?:code \S+|[45]\d\d \S.*|notarget No matching .*"
    r"|Could not resolve dependency:|ERESOLVE .*|Missing script: .*)$"
)
_NPM_ADVICE = compiled(
    r"""(?x)^npm\ (?:error|ERR!)(?:$|\s+(?:
      A\ complete\ log\ of\ this\ run | path\ | command\ | cwd\ | For\ a\ full\ report | /\S+-report\.txt | \S+/_logs/
    | 404\s*$ | 404\ {1,2}(?:The\ requested\ resource|Note\ that\ you|tarball,|Did\ you|This\ package|'[^']+'\ is\ not\ in)
    | Usage:|Options:|aliases: | \[-{1,2} | -{1,2}\w[\w\-]* | Run\ "npm\ help | Clean\ install\ a\ project
    | npm\ (?:ci|install|i|run)\b.*$
    | [ ]{4,}\S
    | If\ you\ are\ behind\ a\ proxy | In\ most\ cases\ you | This\ is\ (?:probably\ not|most\ likely) | Make\ sure\ you\ have
    | Fix\ the\ upstream | to\ accept\ an\ incorrect | at\ \S
    ))"""
)
_PIP_ECHO = (
    "no matching distribution",
    "could not find a version that satisfies",
    "could not install packages",
    "could not find a version",
)
_PIP_CAUSE = compiled(
    r"^(?:WARNING: Retrying \(|  WARNING: Retrying \(|WARNING: .{0,80}connection broken by "
    r"|Could not fetch URL |WARNING: (?:401|403) Error|ERROR: HTTP error \d)"
)
_APK_CAUSE = compiled(
    r"^WARNING: (?:fetching|opening|updating) .{1,300}: (?:temporary error|network|could not connect|DNS|IO ERROR|timed out)"
)
_BUNDLER_ADVICE = ("Don't run Bundler as root", "installing your bundle as root", "users on this machine.")
_PIP_MASK = compiled(
    r"^(?:WARNING: You are using pip version|\[notice\] |WARNING: There was an error checking the latest version)"
)


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Read every stream that holds the words of npm or pip."""
    del scene
    for draft in drafts:
        if "npm err" in draft.low:
            _read_npm(draft)
        if "bundler as root" in draft.low:
            draft.mask(*(index for index, line in enumerate(draft.bare) if line.startswith(_BUNDLER_ADVICE)))
        if ".git can't be found" in draft.low:  # husky says so and lets the installation go on
            draft.mask(*(index for index, line in enumerate(draft.bare) if line == ".git can't be found"))
        if "unable to select packages" in draft.low:  # apk gives up only after what it warned of
            draft.mark(Weight.DECIDING, *(index for index, line in enumerate(draft.bare) if _APK_CAUSE.match(line)))
        if any(echo in draft.low for echo in _PIP_ECHO):
            _read_pip(draft)


def _read_npm(draft: Draft) -> None:
    for index, line in enumerate(draft.bare):
        if not line.startswith(("npm error", "npm ERR!")):
            continue
        if _NPM_CODE.match(line):
            draft.mark(Weight.DECIDING, index)
        elif _NPM_ADVICE.match(line):
            draft.mask(index)


def _read_pip(draft: Draft) -> None:
    """What pip warns of is why it found nothing, once it gives up; the last warning is the one that counts."""
    done = [index for index, line in enumerate(draft.bare) if line.startswith("Successfully installed ")]
    installed = done[-1] if done else -1
    causes = [index for index, line in enumerate(draft.bare) if index > installed and _PIP_CAUSE.match(line)]
    if causes:
        draft.mark(Weight.DECIDING, causes[-1])
    for index, line in enumerate(draft.bare):
        if _PIP_MASK.match(line):
            draft.mask(index)
