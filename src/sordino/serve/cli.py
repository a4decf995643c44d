"""The command line: ``sordino`` and its verbs, from ``init`` and ``ask`` to ``ledger verify`` and ``serve``.

Every command prints a table for people or, with ``--json``, one JSON object for programs. What is refused ends with
exit code 2 and a text that names the remedy; what was checked and does not hold with exit code 1. Everything that is
asked about data goes through the ledger; the commands load what they need when they are called.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from sordino.errors import SordinoError
from sordino.version import VERSION

from .commands import begin, budget, demo, job, ledger, receipt, running, shuffle, start, survey, token
from .commands.explaining import explain
from .commands.place import cell
from .commands.pricing import epsilon, noise
from .kinds.table import OF_THE_HOUSE, kind_at

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
for _kind in map(kind_at, OF_THE_HOUSE):
    if _kind.command is not None:
        _command = _kind.command()
        app.command(_command.name)(running.command_of(_kind, _command))
    if _kind.commands is not None:
        _name, _group = _kind.commands()
        app.add_typer(_group, name=_name)
app.command()(running.run)
app.command()(job.jobs)
app.add_typer(job.app, name="job")
app.command()(budget.budget)
app.add_typer(survey.app, name="survey")
app.add_typer(ledger.app, name="ledger")
app.add_typer(receipt.app, name="receipt")
app.add_typer(token.app, name="token")
app.command()(start.serve)
app.command()(shuffle.shuffle)
app.command()(epsilon)
app.command()(noise)
app.command()(explain)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sordino {VERSION}")
        raise typer.Exit()


@app.callback()
def before_any_verb(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Do nothing: the one option answers by itself."""


def main() -> None:
    """Run the command line; turn our own errors into a line on standard error and exit code 2."""
    try:
        app()
    except SordinoError as error:
        Console(stderr=True, highlight=False).print(f"[bold red]refused:[/] {cell(error.message)} ({error.code})")
        sys.exit(2)
