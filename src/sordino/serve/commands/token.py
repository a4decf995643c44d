"""``sordino token``: let people and programs into the service of this directory, and out again."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table

from .place import HERE, DirectoryOption, JsonOption, cell, opened, say, say_json

app = typer.Typer(help="Issue, list and revoke the tokens of a service.", no_args_is_help=True)


class Role(StrEnum):
    """What a token is good for."""

    OWNER = "owner"
    ANALYST = "analyst"
    AUDITOR = "auditor"


@app.command()
def issue(
    subject: Annotated[str, typer.Argument(help="Whom the token is for.")],
    role: Annotated[Role, typer.Option(help="What they may do.")] = Role.ANALYST,
    dataset: Annotated[list[str] | None, typer.Option(help="A data set that they may know of; again for more.")] = None,
    every_dataset: Annotated[bool, typer.Option("--every-dataset", help="All data sets, now and later.")] = False,
    days: Annotated[int, typer.Option(help="How long it is good.")] = 90,
    directory: DirectoryOption = HERE,
    as_json: JsonOption = False,
) -> None:
    """Issue a token; it is shown this once, and only its digest is kept."""
    from sordino.errors import ArgumentError
    from sordino.serve.keeping.identity import local_owner

    if role is Role.ANALYST and bool(dataset) == every_dataset:
        raise ArgumentError(
            "say which data sets an analyst may know of: --dataset NAME, or --every-dataset", "SRD-A003"
        )
    with opened(directory) as service:
        token = service.issue_token(local_owner(), subject, role.value, dataset or None, days)
    if as_json:
        say_json({"token": token})
        return
    say(token)
    typer.echo("This is shown once. Whoever has it is let in; pass it on by a way that others cannot read.", err=True)


@app.command("list")
def list_tokens(directory: DirectoryOption = HERE, as_json: JsonOption = False) -> None:
    """List tokens, without what would let anybody use them."""
    from sordino.ledger.periods import moment
    from sordino.serve.keeping.identity import local_owner

    with opened(directory) as service:
        found = service.tokens(local_owner())
    if as_json:
        say_json({"tokens": found})
        return
    table = Table()
    for name in ("id", "for", "role", "data sets", "expires", "state"):
        table.add_column(name)
    for each in found:
        names = "all" if each["datasets"] is None else ", ".join(each["datasets"])
        table.add_row(
            each["id"], cell(each["subject"]), each["role"], cell(names), moment(each["expires"]), each["state"]
        )
    say(table)


@app.command()
def revoke(
    identifier: Annotated[str, typer.Argument(help="The id of a token, as list shows it.")],
    directory: DirectoryOption = HERE,
) -> None:
    """End a token, and every session that began with it."""
    from sordino.serve.keeping.identity import local_owner

    with opened(directory) as service:
        service.revoke_token(local_owner(), identifier)
    say(f"{identifier} is revoked")
