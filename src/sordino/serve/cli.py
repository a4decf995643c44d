"""The command line: ``sordino`` and its verbs, from ``init`` and ``ask`` to ``ledger verify`` and ``serve``.

Every command prints a table for people or, with ``--json``, one JSON object for programs. What is refused ends with
exit code 2 and a text that names the remedy; what was checked and does not hold with exit code 1. Everything that is
asked about data goes through the ledger; the commands load what they need when they are called.
"""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from sordino.errors import SordinoError

from .commands import ask, begin, budget, demo, ledger, receipt, start, token
from .commands.place import cell
from .explaining import explain
from .pricing import epsilon, noise

app = typer.Typer(
    name="sordino",
    help="Differential privacy on one ledger: ask, see what is left, verify; price noise and explain what it means.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(demo.demo)
app.command()(begin.init)
app.command()(begin.declare)
app.command()(ask.ask)
app.command()(budget.budget)
app.add_typer(ledger.app, name="ledger")
app.add_typer(receipt.app, name="receipt")
app.add_typer(token.app, name="token")
app.command()(start.serve)
app.command()(epsilon)
app.command()(noise)
app.command()(explain)


def main() -> None:
    """Run the command line; turn our own errors into a line on standard error and exit code 2."""
    try:
        app()
    except SordinoError as error:
        Console(stderr=True, highlight=False).print(f"[bold red]refused:[/] {cell(error.message)} ({error.code})")
        sys.exit(2)
