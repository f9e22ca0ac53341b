"""Whatever a repository is like and whatever is asked of a heal: no byte is lost, and what is not healed is not touched.

``benchmarks/heal_property.py`` runs the same with many more examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.heal_examples import EXAMPLES, check, template

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    with template() as path:
        yield path


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(**EXAMPLES)
def test_no_heal_loses_a_byte(made: Path, **example: Any) -> None:
    check(made, **example)
