"""Work trees that hold only a part: submodules that were never checked out, and paths outside of a sparse checkout."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rerail.errors import GitError
from rerail.git.command import NETWORK_TIMEOUT_S
from rerail.git.files import free_name, move_aside
from rerail.git.finding import Finding, fails, holds
from rerail.git.repairs.transport import fault

if TYPE_CHECKING:
    from rerail.git.invocation import Invocation
    from rerail.git.state import RepoState


def empty_submodule(state: RepoState, call: Invocation | None) -> str | Finding:
    """Return the submodule that a command meant to run in and that is not checked out: git ran in the outer repository."""
    if call is None:
        return fails("where the command ran is not known")
    where = Path(os.path.realpath(call.cwd))
    for path in state.submodules:
        folder = state.root / path
        if where == folder or folder in where.parents:
            if os.path.lexists(folder / ".git"):
                return fails(f"submodule {path} is checked out")
            if folder.is_dir() and any(folder.iterdir()):
                return fails(f"submodule {path} is not checked out, but its directory has files")
            return path
    return fails("the command did not run in a submodule")


def reachable_submodule(state: RepoState, path: str) -> Finding:
    """Return whether a submodule's repository answers, under the operator's protocol policy for submodules."""
    name, url = _name_and_url(state, path)
    if url is None:
        return fails(f".gitmodules does not say where {path} comes from")
    # A submodule's address comes from the repository, not from a person: git's policy for such addresses holds.
    asked = state.git(
        *("ls-remote", "--quiet", "--", url),
        env={"GIT_PROTOCOL_FROM_USER": "0"},
        check=False,
        timeout_s=NETWORK_TIMEOUT_S,
    )
    return holds(f"the repository of submodule {name} answers") if asked.ok else fault(asked)


def init_submodule(state: RepoState, path: str, aside: Path) -> None:
    """Check a submodule out; what a failed attempt made is moved aside.

    Raises:
        GitError: It could not be.
    """
    name, _ = _name_and_url(state, path)
    modules = state.here.common_dir / "modules" / (name or path)
    had_modules = modules.exists()
    done = state.git.at(state.root)("submodule", "update", "--init", "--checkout", "--quiet", "--", path, check=False)
    if done.ok and os.path.lexists(state.root / path / ".git"):
        return
    if not had_modules and modules.exists():
        move_aside(modules, free_name(aside, "modules"))
    for entry in (state.root / path).iterdir() if (state.root / path).is_dir() else ():
        move_aside(entry, free_name(aside, entry.name))
    raise GitError(f"submodule {path} could not be checked out: {done.error_text.strip()[-300:]}")


def submodule_present(state: RepoState, path: str) -> Finding:
    """Return whether a submodule is checked out."""
    return holds("it is checked out") if (state.root / path / ".git").exists() else fails(f"{path} is not checked out")


def outside_cone(state: RepoState, call: Invocation | None) -> tuple[str, ...] | Finding:
    """Return the directories that a sparse checkout would have to include for the paths that a command adds."""
    if call is None or call.verb not in {"add", "mv", "rm"}:
        return fails("the command adds no paths")
    if not state.is_sparse:
        return fails("the whole tree is checked out")
    if state.setting("core.sparsecheckoutcone") != "true":
        return fails("the sparse checkout is given by patterns; which one to add is not clear")
    cone = tuple(state.git("sparse-checkout", "list").lines())
    tracked = {entry.path for entry in state.index}
    wanted = []
    for operand in call.operands:
        path = Path(os.path.realpath(call.cwd / operand))
        if not path.is_relative_to(state.root):
            continue
        inside = path.relative_to(state.root)
        is_tracked = inside.as_posix() in tracked
        if not is_tracked and not os.path.lexists(path):
            continue
        folder = str(inside.parent if is_tracked or path.is_file() else inside)
        if not _is_in_cone(folder, cone):
            wanted.append(folder)
    if not wanted:
        return fails("no path of the command is outside of the sparse checkout")
    taken = [path for path in hidden_paths(state, tuple(wanted)) if os.path.lexists(state.root / path)]
    if taken:
        return fails(f"files are where tracked ones would be checked out: {', '.join(taken[:5])}")
    return tuple(dict.fromkeys(wanted))


def hidden_paths(state: RepoState, folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tracked paths that are not checked out now and will be when directories are included."""
    skipped = [record[2:] for record in state.git("ls-files", "-t", "-z").records() if record.startswith("S ")]
    prefixes = tuple(f"{folder}/" for folder in folders)
    on_the_way = {str(parent) for folder in folders for parent in PurePosixPath(folder).parents}
    return tuple(path for path in skipped if path.startswith(prefixes) or str(PurePosixPath(path).parent) in on_the_way)


def widen_cone(state: RepoState, folders: tuple[str, ...]) -> None:
    """Include directories in the sparse checkout."""
    state.git.at(state.root)(
        "sparse-checkout", "add", "--stdin", stdin="".join(f"{name}\n" for name in folders).encode()
    )


def _is_in_cone(folder: str, cone: tuple[str, ...]) -> bool:
    """Whether files directly in a directory are checked out: it is below an included one, or on the way to one."""
    if folder in {"", "."}:
        return True
    return any(f"{folder}/".startswith(f"{name}/") or f"{name}/".startswith(f"{folder}/") for name in cone)


def _name_and_url(state: RepoState, path: str) -> tuple[str | None, str | None]:
    listing = state.git("config", "--blob=:.gitmodules", "--list", "-z", check=False)
    settings = dict(record.partition("\n")[::2] for record in listing.records())
    name = next(
        (
            key[len("submodule.") : -len(".path")]
            for key, value in settings.items()
            if key.endswith(".path") and value == path
        ),
        None,
    )
    url = state.setting(f"submodule.{name}.url") or settings.get(f"submodule.{name}.url")
    if url is not None and url.startswith(("./", "../")):
        base = state.setting("remote.origin.url") or str(state.root)
        url = _joined(base, url)
    return name, url


def _joined(base: str, relative: str) -> str:
    head, sep, path = base.partition("://")
    if sep:
        host, _, path = path.partition("/")
        return f"{head}://{host}{posixpath.normpath(f'/{path}/{relative}')}"
    return posixpath.normpath(f"{base}/{relative}")
