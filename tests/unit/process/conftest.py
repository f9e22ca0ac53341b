from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.processes import Fifo, Host, Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[Callable[[str], Fifo]]:
    """Make a named pipe."""
    made: list[Fifo] = []

    def make(name: str) -> Fifo:
        made.append(Fifo(tmp_path / name))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Callable[..., Host]]:
    """Start a process, in a group of its own, that runs a child; options are `run_child`'s."""
    made: list[Host] = []

    def start(argv: list[str], *, popen: dict[str, Any] | None = None, **options: Any) -> Host:
        result = tmp_path / f"result-{len(made)}.json"
        made.append(Host(result, {"argv": argv, **options}, {"process_group": 0, **(popen or {})}))
        return made[-1]

    yield start
    for each in made:
        each.process.kill()
        each.process.communicate()


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    if not made.sink.closed:
        made.all()
