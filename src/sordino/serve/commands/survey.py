"""``sordino survey``: define a survey, open a round, look at it, close it, give out one-time codes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from .place import HERE, DirectoryOption, JsonOption, YesOption, cell, opened, read_text, say, say_json, settings_in

app = typer.Typer(help="Surveys: what people say, made unclear before it leaves them.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="The survey.")]


@app.command()
def new(
    file: Annotated[Path, typer.Argument(help="A YAML file of declarations, with sort: survey.")],
    epsilon: Annotated[str | None, typer.Option(help="Its whole budget; left out: what one round costs.")] = None,
    delta: Annotated[str | None, typer.Option(help="δ of the budget.")] = None,
    directory: DirectoryOption = HERE,
) -> None:
    """Define a survey, or its next round. Charges nothing."""
    from sordino.serve.keeping.identity import local_owner
    from sordino.serve.surveys import owners

    budget = {word: value for word, value in (("epsilon", epsilon), ("delta", delta)) if value is not None}
    with opened(directory) as service:
        found = owners.define(service, local_owner(), read_text(file), budget)
    say(f"{found['name']} is defined.", found["words"], f"Open it by: sordino survey open {found['name']}")


@app.command("open")
def open_round(name: Name, yes: YesOption = False, directory: DirectoryOption = HERE) -> None:
    """Charge a round and open it: reports are taken from now on."""
    from sordino.serve.keeping.identity import local_owner
    from sordino.serve.surveys import owners

    with opened(directory) as service:
        price = service.price(local_owner(), owners.KIND, {"dataset": name})
        say(price["words"], f"The round is charged {price['charge']}, whoever answers; there are no refunds.")
        if not yes:
            typer.confirm("Open it?", abort=True)
        owners.begin(service, local_owner(), name)
    say(f"{name} is open. People answer at /s/{name} of the service.")


@app.command()
def show(name: Name, as_json: JsonOption = False, directory: DirectoryOption = HERE) -> None:
    """Show a survey, its price, and what was said so far as it may be seen."""
    from sordino.serve.keeping.identity import local_owner
    from sordino.serve.surveys import owners

    with opened(directory) as service:
        _told(owners.show(service, local_owner(), name), as_json)


@app.command()
def close(name: Name, as_json: JsonOption = False, directory: DirectoryOption = HERE) -> None:
    """Close the round, count, and settle."""
    from sordino.serve.keeping.identity import local_owner
    from sordino.serve.surveys import owners

    with opened(directory) as service:
        _told(owners.close(service, local_owner(), name), as_json)


@app.command()
def codes(
    name: Name,
    count: Annotated[int, typer.Argument(help="How many.")],
    directory: DirectoryOption = HERE,
) -> None:
    """Print new one-time codes, one a line; they are shown this once."""
    from sordino.serve.keeping.identity import local_owner
    from sordino.serve.surveys import owners

    with opened(directory) as service:
        for code in owners.new_codes(service, local_owner(), name, count):
            typer.echo(code)


@app.command()
def key(directory: DirectoryOption = HERE) -> None:
    """Print this service's public key, by which surveys name it as one of two servers."""
    from sordino.serve.surveys.declared import own_key

    typer.echo(own_key(Path(settings_in(directory).data).resolve()).text)


def _told(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        say_json(found)
        return
    say(f"{found['name']}: round {found['round']} is {found['state']}", found["question"], found["words"])
    if found["waits"] is not None:
        say(found["waits"])
    if found["estimate"] is None:
        return
    table = Table("value", "estimate", "95 % interval")
    for row in found["estimate"]["values"]:
        table.add_row(cell(row["value"]), f"{row['estimate']:,.0f}", f"{row['low']:,.0f} to {row['high']:,.0f}")
    say(f"{found['estimate']['reports']:,} reports", table)
