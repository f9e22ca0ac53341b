"""Asking a remote: what it has, and fetching single refs of it, without touching anything but rerail's own refs.

A remote-tracking ref is moved only later, by the step that uses what came: a heal that ends in a pause leaves no trace but
objects.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from rerail.git.command import NETWORK_TIMEOUT_S
from rerail.git.finding import Finding, fails, waits
from rerail.git.state import Trouble
from rerail.taxonomy import FailureClass

if TYPE_CHECKING:
    from rerail.git.command import GitResult
    from rerail.git.state import RepoState

INCOMING = "refs/rerail/incoming/"
_QUIETLY = ("-c", "fetch.prune=false", "-c", "fetch.pruneTags=false", "-c", "gc.auto=0")
_FETCH = (
    *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules"),
    "--refmap=",
)

_REFUSALS = (
    (
        r"403|401|Authentication failed|could not read (Username|Password)|Permission denied|denied to",
        "unauthenticated",
    ),
    (r"transport '.*' not allowed|protocol .* not allowed", "rejected-by-policy"),
)
_DAMAGED = re.compile(
    r"bad object|[Oo]bject file|loose object|replacement [0-9a-f]+ not found|unable to (?:create|write|read|open|append)|"
    r"index file|packed-refs|No space left|cannot lock ref|not a git repository: "
)
"""What git says of this repository, not of the remote."""
_MISSING = re.compile(
    r"does not appear to be a git repository|[Rr]epository .*not found|not found: |couldn't find remote ref|returned error: 404"
)


class RemoteUnaskedError(Exception):
    """A plan came to where a remote would have to be asked. It never leaves the conditions."""


@attrs.frozen
class RemoteBranch:
    """A branch at a remote."""

    remote: str
    """A configured name, or an address."""
    ref: str
    """Its full name there."""
    tracking: str | None
    """The ref that follows it here."""


def remote_branch(state: RepoState, remote: str, name: str) -> RemoteBranch:
    """Return a branch of a remote by its short or full name."""
    ref = name if name.startswith("refs/") else f"refs/heads/{name}"
    return RemoteBranch(remote, ref, tracking_ref(state, remote, ref))


def tracking_ref(state: RepoState, remote: str, ref: str) -> str | None:
    """Return the ref that a remote's configured refspecs map a remote ref to, or None."""
    for spec in state.config.get(f"remote.{remote}.fetch", ()):
        source, _, target = spec.removeprefix("+").partition(":")
        head, star, tail = source.partition("*")
        if star and ref.startswith(head) and ref.endswith(tail):
            return target.replace("*", ref[len(head) : len(ref) - len(tail)], 1)
        if source == ref and target:
            return target
    return None


def only_remote(state: RepoState) -> str | None:
    """Return the remote that is meant when none is named: the only one, or the configured default of several."""
    if len(state.remotes) == 1:
        return state.remotes[0]
    default = state.setting("remote.pushdefault") or state.setting("checkout.defaultremote")
    return default if default in state.remotes else None


def heads(state: RepoState, remote: str, *refs: str) -> dict[str, str] | Finding:
    """Return those of the named refs that a remote has, with their values.

    Raises:
        RemoteUnaskedError: Remotes may not be asked.
    """
    if not state.is_online:
        raise RemoteUnaskedError
    asked = state.git("ls-remote", "--quiet", "--", remote, *refs, check=False, timeout_s=NETWORK_TIMEOUT_S)
    if not asked.ok:
        return fault(asked)
    rows = (line.split("\t", 1) for line in asked.lines())
    return {ref: oid for oid, ref in rows if ref in refs}


def fetch(state: RepoState, remote: str, ref: str) -> str | Finding:
    """Fetch one ref of a remote into rerail's own refs and return its value.

    Raises:
        RemoteUnaskedError: Remotes may not be asked.
    """
    if not state.is_online:
        raise RemoteUnaskedError
    own = f"{INCOMING}{re.sub('[^A-Za-z0-9._-]', '-', remote).strip('.-') or 'remote'}/{ref.removeprefix('refs/')}"
    args = (*_QUIETLY, *_FETCH, "--", remote, f"+{ref}:{own}")
    fetched = state.git(*args, check=False, timeout_s=NETWORK_TIMEOUT_S)
    if not fetched.ok:
        return fault(fetched)
    return state.git.line("rev-parse", "--verify", own)


def drop_incoming(state: RepoState) -> None:
    """Let go of the refs that hold what was fetched; what was wanted of it hangs on other refs by now."""
    for line in state.git("for-each-ref", "--format=%(refname) %(objectname)", INCOMING).lines():
        ref, oid = line.split(" ")
        state.git("update-ref", "-d", ref, oid)


def fault(result: GitResult) -> Finding:
    """Return what a failed transport means: a refusal is a person's, an outage passes."""
    text = result.error_text
    said = next(
        (line for line in text.splitlines() if line.startswith(("fatal:", "error:", "remote:"))), text.strip()[:200]
    )
    for pattern, reason in _REFUSALS:
        if re.search(pattern, text):
            return fails(f"the remote refused: {said}", Trouble(FailureClass.DETERMINISTIC_POLICY, reason, said))
    if _DAMAGED.search(said):
        return fails(f"git cannot fetch into this repository: {said}")
    if _MISSING.search(text):
        return fails(f"the remote does not have it: {said}")
    return waits(f"the remote cannot be reached: {said}", Trouble(FailureClass.PROVIDER, "network", said))
