"""What one short sentence tells of a failure: what it is about, and what became of that.

No phrase is listed. A sentence means something where a thing of a `_Kind` stands in it, and a fate that such a thing can meet:
``key revoked``, ``2FA required``, ``the registry went away``. It states only a family, which anything that is known better wins
over. It is asked about what somebody or an exception said; the output of programs has too many words that stand for other things.
"""

from __future__ import annotations

from rerail.light_typing import NamedTuple
from rerail.rules.readers.lazy import lazy

MOST_CHARS = 240


class _Kind(NamedTuple):
    """A family of failures in words: separated by commas, a star for any ending."""

    code: str
    things: str
    fates: str


_REMOTE = """
    api, server, service, endpoint, gateway, proxy, provider, vendor, upstream, backend, registry, mirror, cdn, host, peer,
    remote, dns, network, connection, conn, socket, websocket, stream, sse, tunnel, vpn, broker, llm, openai, anthropic, github,
    gitlab, npm, pypi, aws, azure, gcp, handshake, uplink, package index, model host, model endpoint
"""
_ARGUMENTS = """
    arg, argument, param, parameter, field, property, propertie, key, input, value, column, body, header, payload, json, schema,
    enum, type, format, query, keyword, null, string, integer, list, array, object, uuid, date, timestamp, model id, model name,
    content-type, tool call, tool name, tool_*
"""
_SPENT = (
    "ran out, run out, used up, exhausted, spent, gone, full, filled, hit, reached, exceeded, depleted, maxed, no more"
)
_DENIED = """
    denied, denies, reject, rejects, rejected, forbids, forbidden, block, blocks, blocked, refused, not allowed, not permitted,
    not allow-listed, not allowlisted, stopped by, read-only, vetoed
"""
_KINDS = (
    _Kind(
        "told:context",
        "context, ctx, prompt, conversation, chat, history, transcript",
        "no longer fits, does not fit, doesn't fit, too long, too large, too big, beyond, exceed*, overflow*, grew, ran out, "
        "exhausted, blown, full",
    ),
    _Kind(
        "told:memory",
        "memory, heap, ram, vram, swap, oom",
        f"{_SPENT}, out of, limit, killed, more, not enough, too little",
    ),
    _Kind("told:disk", "disk, inode, volume, filesystem, file system", f"{_SPENT}, no inodes, no space, no disk space"),
    _Kind(
        "told:killed",
        "kernel, host, process, worker, container, sandbox, runner, machine, job, stack, sigkill, sigsegv",
        "killed, was terminated, sigkill, sigsegv, crashed, overflow, core dumped, shut down, died, evicted, rebooted",
    ),
    _Kind(
        "told:money",
        "credit, balance, monthly budget, plan, subscription, seat, license, licence, invoice, billing, payment, trial, quota, "
        "allowance, fund",
        f"{_SPENT}, ended, is over, expired, unpaid, overdue, insufficient, lapsed, declined, too low, not paid, no seat, "
        "no seats, no credit, no credits, no balance, no quota, no funds, no license, no licence",
    ),
    _Kind("told:login", "key", "revoked, expired, rotated, deactivated, not accepted"),
    _Kind(
        "told:login",
        "api key, access key, token, pat, session, sso, login, credential, password, 2fa, mfa, otp, jwt, cookie, oauth, account",
        "revoked, expired, gone, rejected, refused, wrong, disabled, suspended, locked, on hold, required, stale, "
        "not accepted, banned",
    ),
    _Kind(
        "told:content",
        "content, prompt, answer, image, text, output",
        "flagged, filtered, unsafe, refused to answer, violates, moderat*",
    ),
    _Kind(
        "told:right",
        "policy, policie, org, organisation, organization, admin, rule, guard, guardrail, sandbox, gate, ip, push, pushe, merge, "
        "merging, write, deploy*, production",
        _DENIED,
    ),
    _Kind(
        "told:right",
        "role, scope, permission, access, right, approval, reviewer, code owner",
        f"{_DENIED}, requires, required, needed, missing, lacks, approves, has no",
    ),
    _Kind(
        "told:lacking",
        _ARGUMENTS,
        "missing, absent, omitted, left out, required, not given, not provided, not set, needed, lacks, lacking",
    ),
    _Kind(
        "told:wrong",
        _ARGUMENTS,
        "mismatch*, wrong, bad, invalid, malformed, unexpected, unknown, not allowed, isn't json, is not json, not json, "
        "not valid, typo, cut off, truncated, duplicate, too large, too long, too big, expected, must be, only accepts, "
        "has to be, unparsable, syntax error, without matching, rejected, mb limit, kb limit, byte limit",
    ),
    _Kind("told:pace", "tpm, rpm, rps, qps, rate, burst", "cap, capped, throttled, hit, exceeded, reached, cooldown"),
    _Kind("told:pace", "request, call", "throttled, too fast, too often, slow down, back off"),
    _Kind(
        "told:busy",
        f"{_REMOTE}, queue, pool",
        "full, busy, overloaded, saturated, swamped, at capacity, out of capacity, no capacity, backlogged",
    ),
    _Kind(
        "told:late",
        _REMOTE,
        "timeout, timed out, times out, time out, timing out, no answer, no response, no reply, never answered, "
        "never completed, never responded, "
        "never came back, never finished, never replied, did not answer, didn't answer, did not respond, "
        "didn't respond, stopped answering, "
        "stopped responding, too slow, hangs, hung, stalled, stuck, gave up waiting",
    ),
    _Kind(
        "told:gone",
        _REMOTE,
        "down, dead, unreachable, offline, unavailable, drops, dropped, lost, closed, hung up, went away, reset, cut, "
        "broke, broken, flake, flaky, "
        "flaking, flapping, unhealthy, unstable, outage, incident, not reachable, could not connect, couldn't connect, "
        "can't connect, disconnected",
    ),
)


def _any_of(words: str, plural: str = "") -> str:
    choices = "|".join(word.strip().replace("*", r"\w*") for word in words.split(","))
    return rf"(?i)(?<![\w-])(?:{choices}){plural}(?![\w-])"


_PATTERNS = tuple((kind.code, lazy(_any_of(kind.things, "s?")), lazy(_any_of(kind.fates))) for kind in _KINDS)
_NOT_OURS = lazy(
    _any_of(
        "test*, spec, specs, assert*, lint*, compil*, typecheck*, coverage, snapshot, fixture*, git, worktree*, "
        "rebase, commit*, stash, head, ref, refs, "
        "branch, module*, package, packages, dependenc*, installed, localhost, docker daemon, port, display, browser, "
        "handle*, bundle*, retry budget, minif*, mypy, pyright, eslint, retried, recovered, "
        "succeeded, passed, fixed, resolved, warning*, deprecat*"
    )
)
"""Words of other classes, and of a story that ended well."""


def told(sentence: str) -> str | None:
    """Return the code of what a sentence tells, such as ``told:login``; None where it tells of nothing that is known."""
    if len(sentence) > MOST_CHARS or _NOT_OURS.search(sentence):
        return None
    return next((code for code, things, fates in _PATTERNS if things.search(sentence) and fates.search(sentence)), None)
