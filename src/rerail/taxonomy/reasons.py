"""The built-in reasons: a closed vocabulary per class. A row cannot be written without its summary, hint and action."""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.taxonomy.actions import Action
from rerail.taxonomy.classes import CLASSES
from rerail.taxonomy.law import FailureClass
from rerail.taxonomy.model import ReasonSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DEFAULT_ACTION = {spec.name: spec.action for spec in CLASSES}


def _reasons(
    class_: FailureClass, rows: Iterable[tuple[str, str, str] | tuple[str, str, str, Action]]
) -> Iterator[ReasonSpec]:
    """Yield the rows of one class: ``(name, what happened, what to do next)``, and an action where it differs."""
    name = class_.value
    for row in rows:
        action = row[3] if len(row) == 4 else _DEFAULT_ACTION[name]
        yield ReasonSpec(name, row[0], row[1], row[2], action)


REASONS: tuple[ReasonSpec, ...] = (
    *_reasons(
        FailureClass.PROVIDER,
        [
            (
                "rate-limit",
                "too many requests for now",
                "wait for the limit to refill; lower concurrency if it comes back",
            ),
            (
                "overloaded",
                "the service has no capacity for now",
                "wait; try another region or model if it lasts",
            ),
            (
                "server-error",
                "the service failed on its side",
                "wait; look at the service's status page if it lasts",
            ),
            (
                "timeout",
                "no answer came in time",
                "wait; raise the client's timeout if the work is just slow",
            ),
            (
                "network",
                "the connection could not be made or was lost",
                "wait; check DNS, proxy and route if it lasts",
            ),
            ("stream-cut", "the answer broke off midway", "run again only if a second run does no harm"),
            ("transient", "the service itself calls the error temporary", "wait and run again"),
            (
                "disconnected",
                "the tool server's connection closed",
                "reconnect the tool server, then run again",
            ),
            (
                "usage-window",
                "the plan's usage window is spent, and its reset time is known",
                "resume when the window resets",
                Action.PAUSE,
            ),
        ],
    ),
    *_reasons(
        FailureClass.TOOL_SCHEMA,
        [
            ("missing-field", "a required field is missing", "add the field from declared context"),
            ("wrong-type", "a value has the wrong type", "send the type that the schema names"),
            ("invalid-value", "a value is outside what is allowed", "send one of the allowed values"),
            ("unknown-field", "a field is not part of the schema", "remove or rename the field"),
            (
                "unknown-tool",
                "the tool, method or command does not exist",
                "call one of the tools that exist",
            ),
            (
                "unknown-model",
                "the model does not exist or is not served",
                "name a model that the provider serves",
            ),
            ("malformed-json", "the input is not valid JSON", "send valid JSON of the schema's shape"),
            (
                "truncated-call",
                "the call was cut off before its end",
                "ask for the call again, whole; never complete it",
            ),
            (
                "message-order",
                "the conversation's messages are out of order",
                "repair the transcript before the next request",
            ),
            (
                "usage-error",
                "the command line was refused by its own parser",
                "correct the options; see the command's --help",
            ),
            ("too-large", "the request is larger than is allowed", "send a smaller request"),
            (
                "bad-request",
                "the request was rejected, and the answer does not say which part",
                "correct the request",
            ),
        ],
    ),
    *_reasons(
        FailureClass.DETERMINISTIC_POLICY,
        [
            (
                "hook-denied",
                "a harness hook or gate denied the call",
                "ask the operator; do not reword the call",
            ),
            (
                "approval-required",
                "the call needs a person's approval",
                "ask the operator to approve or refuse it",
            ),
            (
                "sandbox-denied",
                "the sandbox does not allow it",
                "ask the operator to widen the sandbox, or go without",
            ),
            ("os-permission", "the operating system denied access", "ask the operator for the permission"),
            ("unauthenticated", "the credentials were refused", "ask the operator for valid credentials"),
            ("forbidden", "the identity is known and may not do this", "ask the operator for the permission"),
            (
                "billing",
                "credit or quota is used up, with no reset in sight",
                "ask the operator to top up or raise the limit",
            ),
            (
                "content-filter",
                "the content was refused by a policy",
                "ask the operator; do not send it again",
            ),
            (
                "protected-branch",
                "the branch does not take this change directly",
                "open a pull request instead",
            ),
            (
                "push-protection",
                "the push was refused for what it contains",
                "take the secret or file out of the commits",
            ),
            (
                "rejected-by-policy",
                "a rule of the organisation or platform refuses it",
                "ask the operator who owns the rule",
            ),
        ],
    ),
    *_reasons(
        FailureClass.GIT,
        [
            (
                "conflict",
                "changes conflict and need a decision",
                "resolve the conflict by hand, then continue",
            ),
            ("unmerged", "paths are still unmerged", "resolve the paths and add them, then continue"),
            ("detached-head", "HEAD is not on a branch", "attach HEAD to a branch that keeps its commits"),
            (
                "index-lock",
                "the index is locked",
                "let the other git process finish; a dead one's lock can be moved aside",
            ),
            (
                "ref-lock",
                "a ref or another git file is locked",
                "let the other git process finish; then run again",
            ),
            (
                "hook-failed",
                "a commit hook judged the change and refused it",
                "fix what the hook names; never skip it",
            ),
            (
                "hook-reformatted",
                "a commit hook rewrote files",
                "stage what was staged once more, and commit again",
            ),
            (
                "non-fast-forward",
                "the remote has commits that are not here",
                "fetch and integrate them; never force",
            ),
            (
                "diverged",
                "the branch and its upstream have both moved",
                "integrate the upstream, by rebase or merge",
            ),
            ("no-upstream", "the branch has no upstream or remote", "name the upstream"),
            (
                "operation-in-progress",
                "an unfinished merge, rebase or the like is in the way",
                "finish or abort it",
            ),
            (
                "dirty-tree",
                "local changes would be overwritten",
                "commit them, or move them aside with a backup",
            ),
            (
                "untracked-in-way",
                "untracked files would be overwritten",
                "commit them, or move them aside with a backup",
            ),
            ("identity-missing", "git does not know who commits", "set user.name and user.email"),
            (
                "unknown-revision",
                "the revision or path does not exist here",
                "name one that exists; fetch first if it is remote",
            ),
            ("broken-ref", "a ref or HEAD is broken", "restore it from the reflog"),
            ("corrupt-index", "the index cannot be read", "rebuild the index, keeping the old one"),
            (
                "corrupt-objects",
                "objects are missing or damaged",
                "recover from a remote or a backup",
                Action.PAUSE,
            ),
            ("shallow", "the history needed was not fetched", "deepen the clone"),
            ("filter-missing", "a filter such as LFS is missing", "install the filter"),
            ("submodule", "a submodule is missing or dirty", "initialise or commit the submodule"),
            ("nothing-to-commit", "there is nothing to record", "check what was meant to be staged"),
            ("rejected", "git refused the operation", "read git's message; it names the way out"),
        ],
    ),
    *_reasons(
        FailureClass.WORKTREE,
        [
            ("not-a-repository", "the directory is in no repository", "point the unit at the right root"),
            (
                "missing-git-dir",
                "the .git that should be here is missing",
                "restore or recreate the worktree",
            ),
            ("broken-link", "the worktree's link leads nowhere", "repair the link: git worktree repair"),
            ("invalid-root", "the root is not what was declared", "re-resolve the root before anything runs"),
            (
                "cwd-gone",
                "the working directory no longer exists",
                "start again from a directory that exists",
            ),
            (
                "branch-elsewhere",
                "the branch is checked out in another worktree",
                "use that worktree, or another branch",
            ),
            ("locked", "the worktree is locked", "ask whoever locked it"),
            ("prunable", "git would prune this worktree", "repair or remove it before use"),
            (
                "path-taken",
                "the worktree's path is already taken",
                "choose a free path, or clear the old registration",
            ),
            (
                "main-checkout-moved",
                "a unit in a linked worktree moved the main checkout",
                "put the main checkout back by its reflog, then run the check",
            ),
            ("lease-lost", "another session holds this worktree", "stop; let the holder finish"),
            (
                "foreign-session",
                "the worktree belongs to another owner",
                "have its owner mark it safe, or use your own",
            ),
        ],
    ),
    *_reasons(
        FailureClass.RUNTIME,
        [
            ("out-of-memory", "memory ran out", "give it more memory, or less to do at once"),
            ("segfault", "the process crashed", "look at the crash; the same input will crash again"),
            ("killed", "the process was killed", "find who killed it before it runs again"),
            ("terminated", "the process was told to end", "find who ended it before it runs again"),
            (
                "host-gone",
                "the previous attempt never ended: its host died",
                "look at what it left behind, then say whether it may run again",
                Action.PAUSE,
            ),
            ("parent-gone", "the process that waited for it is gone", "restart the session that owns it"),
            ("time-limit", "a time limit of the host ended it", "raise the limit, or split the work"),
            ("disk-full", "no space or quota is left to write", "free space, then resume"),
            (
                "resource-limit",
                "descriptors, processes or threads ran out",
                "raise the limit, or lower the parallelism",
            ),
            (
                "context-overflow",
                "the context window is exhausted",
                "shorten the context; the same one will not fit",
            ),
        ],
    ),
    *_reasons(
        FailureClass.UNCLASSIFIED,
        [
            (
                "no-evidence",
                "no rule has evidence",
                "read the output; add a rule so that it has a name next time",
            ),
            ("not-a-failure", "nothing shows that it failed", "read the output; nothing needs recovery"),
        ],
    ),
    *_reasons(
        FailureClass.VERIFICATION,
        [
            ("tests-failed", "tests fail", "fix what the named tests show"),
            ("compile-error", "the code does not compile", "fix the named places"),
            ("type-error", "the type checker objects", "fix the named places"),
            ("lint", "the linter objects", "fix the named places"),
            ("format", "files are not formatted", "run the formatter"),
            ("coverage", "coverage is below its threshold", "add the missing tests"),
            ("scan-finding", "a scan found a problem", "fix or assess the finding"),
            ("build-failed", "the build fails on its input", "fix what the build names"),
            (
                "crash",
                "the program under work raised an error of its own",
                "fix the code that the traceback names",
            ),
            (
                "flaky",
                "checks failed and then passed, and nothing had changed",
                "find what the named checks depend on beside their input, or say that they may pass",
                Action.PAUSE,
            ),
        ],
    ),
    *_reasons(
        FailureClass.ENVIRONMENT,
        [
            (
                "missing-executable",
                "a program is not installed or not on PATH",
                "install it, or correct PATH",
            ),
            ("missing-module", "a module or library is not installed", "install the project's dependencies"),
            (
                "missing-file",
                "a file or directory that is needed does not exist",
                "create it, or correct the path",
            ),
            (
                "wrong-version",
                "a tool or library has the wrong version",
                "install the version that is asked for",
            ),
            ("missing-config", "a setting is missing or invalid", "set it where the message says"),
            ("missing-credential", "no credential was given", "log in, or set the credential"),
            ("port-in-use", "the port or address is taken", "end the other process, or use another port"),
            (
                "tls-trust",
                "the certificate is not trusted",
                "install the issuer's certificate; do not switch the check off",
            ),
            ("lockfile-drift", "the lockfile does not fit the manifest", "update the lockfile on purpose"),
            (
                "dependency-conflict",
                "the dependencies cannot be resolved together",
                "relax or align the versions",
            ),
            ("daemon-down", "a local service is not running", "start the service"),
        ],
    ),
)
