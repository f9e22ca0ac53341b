"""Who commits here: what git's configuration and environment say, and giving the identity that the operator has laid down."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rerail.git.finding import Finding, absent, fails, holds

if TYPE_CHECKING:
    from rerail.git.case import Identity
    from rerail.git.state import RepoState

_CRUD = " \t.,:;<>\"\\'"
"""What git strips from the ends of a name or address: what is nothing else is none."""
_PARTS = ("name", "email")
_KEYS = tuple(f"{role}.{part}" for role in ("user", "author", "committer") for part in _PARTS)
_VARIABLES = tuple(f"GIT_{role}_{part}" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL"))


def is_unset(state: RepoState, part: str) -> Finding:
    """Return whether no name, or no email address, is configured that git would take."""
    value = state.setting(f"user.{part}")
    if value is not None and value.strip(_CRUD):
        return absent(f"user.{part} is configured")
    return holds(f"user.{part} is {'not configured' if value is None else 'nothing that git takes'}")


def given(state: RepoState, identity: Identity | None) -> Finding:
    """Return whether the operator has said who commits here, and nothing else says so already."""
    if identity is None:
        return absent("the operator has not said who commits here")
    configured = [key for key in _KEYS if state.setting(key) is not None]
    configured += [name for name in _VARIABLES if name in os.environ]
    if configured:
        return fails(f"{configured[0]} is set: who commits here is said there, or is to be")
    return holds("the operator has said who commits here, and nothing else does")


def give(state: RepoState, identity: Identity) -> None:
    """Write an identity into the repository's own configuration."""
    state.git("config", "--local", "user.name", identity.name)
    state.git("config", "--local", "user.email", identity.email)


def is_given(state: RepoState, identity: Identity | None) -> Finding:
    """Return whether commits here are made by an identity."""
    wanted = None if identity is None else (identity.name, identity.email)
    return (
        holds("it is set")
        if wanted == (state.setting("user.name"), state.setting("user.email"))
        else fails("it is not")
    )
