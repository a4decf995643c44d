"""The command line: ``sordino`` and its verbs, from ``init`` and ``ask`` to ``ledger verify`` and ``serve``.

Every command prints a table for people or, with ``--json``, one JSON object for programs, errors too. The exit code
tells a script what to do (`CODES`); what was checked and does not hold ends with 1. Everything that is asked about data
goes through the ledger; the commands load what they need when they are called.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from sordino.errors import BudgetError, QuestionError, RunError, SordinoError, SourceError, UnsupportedError
from sordino.version import VERSION

from .afar.remote import UnreachableError
from .commands import begin, budget, demo, job, ledger, look, receipt, running, shuffle, start, survey, token
from .commands.explaining import explain
from .commands.place import cell, say_json
from .commands.pricing import epsilon, noise
from .kinds.table import OF_THE_HOUSE, kind_at
from .refusals import BusyError, shape

app = typer.Typer(
    name="sordino",
    help="Differential privacy on one ledger: ask, see what is left, verify; price noise and explain what it means.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(demo.demo)
app.command()(begin.init)
app.command()(begin.declare)
app.command()(look.look)
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


USAGE = 2
CODES: tuple[tuple[tuple[type[SordinoError], ...], int], ...] = (
    ((BudgetError,), 3),
    ((QuestionError, UnsupportedError), 4),
    ((RunError,), 5),
    ((SourceError, BusyError, UnreachableError), 6),
)
"""What a refusal ends with, by what helps: another budget or question, the operator, another time; else `USAGE`."""


def main() -> None:
    """Run the command line; turn our own errors into a line on standard error, or JSON, and an exit code."""
    try:
        app()
    except SordinoError as error:
        if "--json" in sys.argv:
            say_json(shape(error.code, error.message))
        Console(stderr=True, highlight=False).print(f"[bold red]refused:[/] {cell(error.message)} ({error.code})")
        sys.exit(next((code for kinds, code in CODES if isinstance(error, kinds)), USAGE))
