"""``sordino demo``: the whole story once, on made-up data, in a folder that can be worked in afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sordino.errors import ArgumentError


def demo(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder to make it in.")] = Path("sordino-demo"),
) -> None:
    """Ask six questions, be refused the seventh, verify the ledger, write a report. Exit code 1: something is off."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ArgumentError(f"{folder} is not empty, and its budget would be spent already; name a new one", "SRD-A003")
    from sordino.accounting.explain import explain
    from sordino.serve.demo.report import write_report
    from sordino.serve.demo.rides import BUDGET, RIDERS
    from sordino.serve.demo.showing import Shown, console
    from sordino.serve.demo.story import UnexpectedError, tell

    out = console()
    shown = Shown(out)
    try:
        story = tell(folder, shown)
    except UnexpectedError as error:
        out.print(f"NOT AS IT SHOULD BE: {error}", style="bold red", markup=False)
        raise typer.Exit(1) from None
    explanation = explain(BUDGET["epsilon"], BUDGET["delta"], people=RIDERS)
    shown.ended(story, write_report(story, explanation))
