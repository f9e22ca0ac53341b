"""A heal that fails and cannot be put back: it never says that nothing was changed, and the next one goes on with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.kill_cases import resolved

from rerail.evidence.payload import to_payload
from rerail.verbs.heal import heal

if TYPE_CHECKING:
    from tests.repositories import Repo


def test_what_could_not_be_put_back_is_told_with_the_backup_that_holds_it(repo: Repo) -> None:
    failure = to_payload(repo.fails(*resolved(repo)))
    hook, message = repo.git_dir / "hooks" / "pre-commit", repo.git_dir / "MERGE_MSG"
    said, lock = message.read_bytes(), message.with_name("MERGE_MSG.lock")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho scribbled >> '{message}'\ntouch '{lock}'\nexit 1\n")
    hook.chmod(0o755)

    stuck = heal(repo.path, failure)
    assert not stuck.ok
    assert "nothing was changed" not in stuck.message
    assert "putting everything back failed too" in stuck.message
    assert f"backup {stuck.data['backup']} holds it" in stuck.message

    lock.unlink()
    hook.unlink()
    healed = heal(repo.path, failure)
    assert healed.ok, healed.message
    assert "which was cut short, was taken back first" in str(healed.data["detail"])
    assert said.splitlines()[0].decode() in repo.git("log", "-1", "--format=%B")
    assert "scribbled" not in repo.git("log", "-1", "--format=%B")
