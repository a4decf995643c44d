"""``sordino jobs`` and ``sordino job``: runs that take long, and how far they are; stop one, or go on with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from .place import HERE, DirectoryOption, JsonOption, TokenOption, UrlOption, cell, check_new, desk, say, say_json

app = typer.Typer(help="One job: stop it (what was charged stays charged), or go on with it.", no_args_is_help=True)
IdArgument = Annotated[str, typer.Argument(help="The id of the job.", metavar="ID")]


def jobs(
    directory: DirectoryOption = HERE, url: UrlOption = None, token: TokenOption = None, as_json: JsonOption = False
) -> None:
    """List the newest jobs: runs that take long, how far they are, and what their plans make public."""
    with desk(directory, url, token) as found:
        listed = found.jobs()
    if as_json:
        say_json({"jobs": listed})
        return
    table = Table(Column("job", no_wrap=True, min_width=32), "kind", "data set", "by", "stage", "so far", "release")
    for each in listed:
        shown = (each["id"], each["kind"], each["dataset"], each["subject"], each["stage"], _so_far(each))
        table.add_row(*map(cell, (*shown, each["release"] or "")))
    say(table if listed else "there are no jobs yet")


@app.command()
def stop(
    identifier: IdArgument,
    directory: DirectoryOption = HERE,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop a job in a process of its own; what was charged stays charged."""
    _change(identifier, "stop", (directory, url, token), as_json)


@app.command()
def resume(
    identifier: IdArgument,
    directory: DirectoryOption = HERE,
    url: UrlOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Go on with a job that was stopped, or whose process died; only what is charged in tranches pays on."""
    _change(identifier, "resume", (directory, url, token), as_json)


@app.command()
def fetch(
    identifier: IdArgument,
    name: Annotated[str, typer.Argument(help="The name of the file, such as weights.npz.")],
    to: Annotated[
        Path | None, typer.Option(help="Write it into this new file; of the same name here if left out.")
    ] = None,
    directory: DirectoryOption = HERE,
    url: UrlOption = None,
    token: TokenOption = None,
) -> None:
    """Fetch a file that a settled job left for you, such as the weights of a model."""
    target = Path(Path(name).name) if to is None else to
    check_new(target)
    with desk(directory, url, token) as found:
        content = found.job_file(identifier, name)
    with target.open("xb") as file:
        file.write(content)
    say(f"{len(content):,} bytes in {target}")


def _change(identifier: str, verb: str, where: Any, as_json: bool) -> None:
    with desk(*where) as found:
        job = found.change_job(identifier, verb)
    if as_json:
        say_json(job)
        return
    say(f"job {job['id']}: {'is told to stop' if job['stopping'] else job['stage']}")


def _so_far(job: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in (job["progress"] or {}).items())
