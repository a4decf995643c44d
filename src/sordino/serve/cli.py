"""The command line: ``sordino epsilon``, ``sordino noise``, ``sordino explain``.

Every command prints a table for people or, with ``--json``, one JSON object for programs. A mistake in the words ends
with exit code 2 and a text that names the remedy; nothing here ever sees data.
"""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from sordino.errors import SordinoError

from .explaining import explain
from .pricing import epsilon, noise

app = typer.Typer(
    name="sordino",
    help="Differential privacy on one ledger: price a release, find the noise for a target, explain what it means.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(epsilon)
app.command()(noise)
app.command()(explain)


def main() -> None:
    """Run the command line; turn our own errors into a line on standard error and exit code 2."""
    try:
        app()
    except SordinoError as error:
        Console(stderr=True, highlight=False).print(f"[bold red]refused:[/] {error.message} ({error.code})")
        sys.exit(2)
