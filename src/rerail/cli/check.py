"""``rerail check``: is this worktree safe to work in?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.cli.here import directory_named
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import cell

if TYPE_CHECKING:
    from rich.console import Console


@click.command("check")
@json_option
def command(as_json: bool) -> int:
    """Check that this worktree is safe to work in."""
    from rerail.git.safety import block_lines
    from rerail.verbs.check import check

    result = check(directory_named("."))

    def show(console: Console) -> None:
        rows = result.rows("lines")
        for line in block_lines((str(row["name"]), str(row["verdict"]), str(row["detail"])) for row in rows):
            console.print(cell(line), soft_wrap=True)

    return leave(result, as_json=as_json, picture=show)
