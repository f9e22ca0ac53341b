"""``rerail check``: is this worktree safe to work in? Five lines, fail closed; a pass readmits a refused worktree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.boundary import hints
from rerail.boundary.result import Diagnostic, Result
from rerail.boundary.slugs import ErrorSlug
from rerail.cli.here import project_here, working_directory
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import cell

if TYPE_CHECKING:
    from rich.console import Console


@click.command("check")
@json_option
def command(as_json: bool) -> int:
    """Check that this worktree is safe to work in."""
    from rerail.git.safety import check_worktree

    cwd = working_directory()
    report = check_worktree(cwd)
    project = project_here()
    if report.ok:
        ledger = project.open_ledger()
        try:
            if ledger.refusal(str(project.root)) is not None:
                ledger.readmit(str(project.root))
        finally:
            ledger.close()
    data = {
        "ok": report.ok,
        "lines": [{"name": line.name, "verdict": line.verdict, "detail": line.text} for line in report.lines],
    }

    def show(console: Console) -> None:
        for line in report.block_lines():
            console.print(cell(line), soft_wrap=True)

    failed = report.failed
    if failed is None:
        return leave(Result(True, "check", "", data), as_json=as_json, picture=show)
    result = Result(
        ok=False,
        verb="check",
        message=f"this worktree is refused: {failed.name}: {failed.text}",
        data=data,
        diagnostics=(Diagnostic(failed.text, failed.name),),
        hints=(hints.pass_worktree_check(root=str(cwd)),),
        error=ErrorSlug.WORKTREE_REFUSED,
    )
    return leave(result, as_json=as_json, picture=show)
