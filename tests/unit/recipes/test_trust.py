"""Trust in recipes that run commands: by exact content, private, outside of the project, and given by nobody but the operator."""

from __future__ import annotations

import json
import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest

from rerail.errors import UsageError
from rerail.recipes.heals import HealRecipe, RunCommand
from rerail.recipes.read import heals_in_force
from rerail.recipes.trust import TrustStore, own_programs

if TYPE_CHECKING:
    from collections.abc import Callable

HEAL = """
[[heal]]
slug = "ours-install"
class = "environment"
reasons = ["missing-module"]
sees = "a module that is not installed"
why = "the installer brings it"
source = "observed"
steps = [{ run = COMMAND }]
undo = "remove it"
question = "Install it."
"""


def recipe(root: Path, *command: str) -> HealRecipe:
    """Write the project's recipe file with this command, and read it as a heal would."""
    file = root / ".rerail" / "recipes" / "ours.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(HEAL.replace("COMMAND", json.dumps(list(command))))
    return heals_in_force(root)[-1]


def trusted(store: TrustStore, heal: HealRecipe, root: Path) -> None:
    store.trust(heal.digest, heal.file, (heal,), root, at_s=1.0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def store(tmp_path: Path, root: Path) -> TrustStore:
    return TrustStore(tmp_path / "state" / "trust" / "project-1", (root,))


def test_what_is_run_is_what_was_hashed(root: Path) -> None:
    heal = recipe(root, "installer", "all")
    file = root / ".rerail" / "recipes" / "ours.toml"
    assert heal.digest == sha256(file.read_bytes()).hexdigest()
    assert heal.file == str(Path(".rerail", "recipes", "ours.toml"))
    file.write_text(file.read_text().replace("installer", "something-else"))
    assert heals_in_force(root)[-1].digest != heal.digest


def test_a_content_is_untrusted_until_the_operator_trusts_it_and_again_after_any_change(
    store: TrustStore, root: Path
) -> None:
    heal = recipe(root, "installer")
    assert "nobody has trusted" in store.covers(heal, root)
    trusted(store, heal, root)
    assert store.covers(heal, root) == ""
    assert store.covers(recipe(root, "installer", "--more"), root)
    assert store.covers(recipe(root, "installer"), root) == "", "the same content is the same trust"
    assert store.revoke(heal.digest)
    assert not store.revoke(heal.digest)
    assert store.covers(heal, root)


def test_it_is_one_projects(tmp_path: Path, store: TrustStore, root: Path) -> None:
    heal = recipe(root, "installer")
    trusted(store, heal, root)
    other = TrustStore(tmp_path / "state" / "trust" / "other-2", (tmp_path / "other",))
    assert other.covers(heal, root)


@pytest.mark.parametrize("umask", [0o022, 0o002, 0o000])
def test_it_is_private(tmp_path: Path, store: TrustStore, root: Path, umask: int) -> None:
    heal, before = recipe(root, "installer"), os.umask(umask)
    try:
        trusted(store, heal, root)
    finally:
        os.umask(before)
    assert store.covers(heal, root) == ""
    home = tmp_path / "state" / "trust" / "project-1"
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    (file,) = home.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def _world_writable_directory(home: Path) -> None:
    home.chmod(0o777)


def _world_writable_above(home: Path) -> None:
    home.parent.chmod(0o777)


def _world_writable_file(home: Path) -> None:
    next(home.iterdir()).chmod(0o666)


def _a_link(home: Path) -> None:
    home.rename(home.with_name("elsewhere"))
    home.symlink_to("elsewhere")


def _damaged(home: Path) -> None:
    next(home.iterdir()).write_text('{"digest": ')


def _of_another(home: Path) -> None:
    file = next(home.iterdir())
    file.write_text(file.read_text().replace(file.stem, "0" * 64))


@pytest.mark.parametrize(
    "spoil",
    [_world_writable_directory, _world_writable_above, _world_writable_file, _a_link, _damaged, _of_another],
)
def test_what_somebody_else_could_have_written_is_no_trust(
    tmp_path: Path, store: TrustStore, root: Path, spoil: Callable[[Path], None]
) -> None:
    heal = recipe(root, "installer")
    trusted(store, heal, root)
    spoil(tmp_path / "state" / "trust" / "project-1")
    assert store.covers(heal, root)


@pytest.mark.parametrize("place", ["project/state", "project/.git/state", "link/state"])
def test_a_store_inside_of_the_project_is_none(tmp_path: Path, root: Path, place: str) -> None:
    (tmp_path / "link").symlink_to(root)
    inside = TrustStore(tmp_path / place / "trust" / "project-1", (root,))
    heal = recipe(root, "installer")
    with pytest.raises(UsageError, match="inside of the project"):
        trusted(inside, heal, root)
    home = tmp_path / place / "trust" / "project-1"
    home.mkdir(parents=True, mode=0o700)
    forged = {"digest": heal.digest, "file": heal.file, "at_s": 1.0, "programs": []}
    (home / f"{heal.digest}.json").write_text(json.dumps(forged))
    assert "inside of the project" in inside.covers(heal, root)
    assert inside.entries() == ()


def test_without_a_home_nothing_is_trusted(root: Path) -> None:
    store = TrustStore(None, (root,))
    heal = recipe(root, "installer")
    assert store.covers(heal, root)
    with pytest.raises(UsageError):
        trusted(store, heal, root)
    assert not store.revoke(heal.digest)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, root: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(UsageError, match="cannot be kept"):
        trusted(TrustStore(tmp_path / "state" / "trust" / "p", (root,)), recipe(root, "installer"), root)


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        (("npm", "ci"), []),
        (("./tools/install", "all"), ["tools/install"]),
        (("python3", "-u", "tools/install", "all"), ["tools/install"]),
        (("node", "tools/install"), ["tools/install"]),
        (("make", "tools/install"), []),
        (("./tools/../tools/install",), ["tools/install"]),
        (("python3", "../outside.py"), []),
    ],
)
def test_a_program_of_the_project_is_covered_too(
    store: TrustStore, root: Path, command: tuple[str, ...], programs: list[str]
) -> None:
    (root / "tools").mkdir()
    (root / "tools" / "install").write_text("#!/bin/sh\n")
    (root.parent / "outside.py").write_text("")
    heal = recipe(root, *command)
    assert list(own_programs((heal,), root)) == programs
    trusted(store, heal, root)
    assert store.covers(heal, root) == ""
    (root / "tools" / "install").write_text("#!/bin/sh\nrm -rf /\n")
    assert bool(store.covers(heal, root)) == bool(programs)


def _a_directory_that_runs(program: Path) -> None:
    program.mkdir()
    (program / "__main__.py").write_text("print('theirs')\n")


@pytest.mark.parametrize("swap", [_a_directory_that_runs, os.mkfifo, lambda program: program.symlink_to("/dev/zero")])
def test_what_is_no_file_in_the_place_of_a_program_is_not_covered_and_never_waited_for(
    store: TrustStore, root: Path, swap: Callable[[Path], None]
) -> None:
    program = root / "tools" / "fix.py"
    program.parent.mkdir()
    program.write_text("print('ours')\n")
    heal = recipe(root, "python3", "tools/fix.py")
    trusted(store, heal, root)
    program.unlink()
    swap(program)
    assert store.covers(heal, root) == f"tools/fix.py is not what it was when {heal.file} was trusted"


def test_a_program_that_appears_in_the_project_after_the_trust_is_not_covered(store: TrustStore, root: Path) -> None:
    heal = recipe(root, "./tools/install")
    trusted(store, heal, root)
    (root / "tools").mkdir()
    (root / "tools" / "install").write_text("#!/bin/sh\n")
    assert "tools/install is not what it was" in store.covers(heal, root)


def test_a_search_path_into_the_project_gives_no_program(
    store: TrustStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = root / "node_modules" / ".bin" / "installer"
    planted.parent.mkdir(parents=True)
    planted.write_text("#!/bin/sh\n")
    planted.chmod(0o755)
    heal = recipe(root, "installer")
    trusted(store, heal, root)
    assert store.covers(heal, root) == ""
    monkeypatch.setenv("PATH", f"{planted.parent}{os.pathsep}{os.environ['PATH']}")
    assert str(planted) in store.covers(heal, root)
    monkeypatch.setenv("PATH", f"node_modules/.bin{os.pathsep}{os.environ['PATH']}")
    assert "a file of the project" in store.covers(heal, root)


def test_a_recipe_without_commands_needs_none(root: Path) -> None:
    heal = attrs.evolve(recipe(root, "installer"), steps=())
    assert not heal.runs_commands
    assert recipe(root, "installer").steps == (RunCommand(("installer",), 120.0),)
