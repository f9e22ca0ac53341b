"""Builds the wheel, installs it into an environment of its own, and tries what a user tries first: ``make wheel``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", scratch, str(ROOT))
        wheel = next(place.glob("*.whl"))
        venv.create(place / "env", with_pip=True)
        run(str(place / "env/bin/pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel))
        rerail = str(place / "env/bin/rerail")
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        first = subprocess.run(
            [rerail, "classify", "--json", "-"],
            input='{"stderr": "HTTP 503 Service Unavailable"}',
            capture_output=True,
            text=True,
            check=True,
            cwd=place,
            env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
        )
        assert json.loads(first.stdout)["data"]["class"] == "provider", first.stdout
        assert "pydantic" not in first.stderr, "the recipes ship compiled"
        tested = json.loads(run(rerail, "rules", "test", "--json", cwd=place))
        assert tested["data"]["rules"] > 100, "the recipes ship in the wheel"
        assert tested["data"]["wrong"] == 0, tested
        run(
            str(place / "env/bin/python"),
            "-W",
            "error",
            "-c",
            "from rerail import Loop; assert Loop(ledger='memory').run('u', int).ok",
            cwd=place,
        )
        print(f"{wheel.name}: {tested['message']}")
    return 0


def run(*command: str, stdin: str = "", cwd: Path | None = None) -> str:
    """Run a command that must succeed; return what it printed."""
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, text=True, cwd=cwd, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command[:4])}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
