"""The pages that are made from the tables say what the tables say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MAKE = Path(__file__).parents[2] / "docs" / "make.py"


def test_no_made_page_is_out_of_date() -> None:
    done = subprocess.run([sys.executable, str(MAKE), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
