"""``sordino init`` and ``sordino declare``: begin with a data set, and say what is publicly known about it.

**Guarantee**: what is proposed was not read from values. Names and types of columns are looked at, and nothing else;
bounds, keys and limits are for the owner to fill in, from what is known without the data.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sordino.errors import ArgumentError

from .place import HERE, DirectoryOption, YesOption, beside, check_new, opened, read_text, say, settings_in, write_new

if TYPE_CHECKING:
    from sordino.data.dataset import Dataset
    from sordino.serve.settings import Settings

_GLOB = "*?["
_DATABASE = "budget.db"
_SETTINGS = "sordino.yaml"
EpsilonOption = Annotated[str | None, typer.Option("--epsilon", help="The whole budget: ε of all questions together.")]
DeltaOption = Annotated[str | None, typer.Option("--delta", help="δ of the whole budget; left out: pure ε.")]


def init(
    source: Annotated[str, typer.Argument(help="Parquet or CSV files (a pattern, if several), or a database URL.")],
    unit: Annotated[str, typer.Option(help="The column that says whose a row is, or row.")],
    epsilon: Annotated[str, typer.Option(help="The whole budget: ε of all questions together.")],
    delta: DeltaOption = None,
    name: Annotated[
        str | None, typer.Option(help="What to call the data set; left out: as the file is called.")
    ] = None,
    directory: DirectoryOption = HERE,
    yes: YesOption = False,
) -> None:
    """Begin: propose what to declare about a data set without looking at values, and open its budget."""
    from sordino.accounting.budget import budget
    from sordino.serve.proposing import proposed, source_text

    given = {"epsilon": epsilon} | ({} if delta is None else {"delta": delta})
    cap = budget(**given)
    called = name or _name_of(source)
    settings, is_new = _settings(directory, source)
    found = _looked_at(called, source, unit)
    file = directory / f"{called}.yaml"
    if file.name == _SETTINGS:
        raise ArgumentError(f"{_SETTINGS} holds the settings; call the data set something else by --name", "SRD-A002")
    check_new(file)
    text = proposed(found, source_text(found, Path(settings.data)), f"run: sordino declare {file}")
    say(f"{file} would say:", "", text.rstrip(), "", f"Its budget would be {cap}, in {settings.database}.")
    if not yes:
        typer.confirm("Write this down?", abort=True)
    _register(settings, text, given)
    write_new(file, text)
    if is_new:
        write_new(directory / _SETTINGS, _settings_text(settings, directory))
    say(f"Done. Fill in what you know in {file}, then: sordino declare {file}")


def declare(
    file: Annotated[Path, typer.Argument(help="A YAML file of declarations.")],
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    directory: DirectoryOption = HERE,
) -> None:
    """Declare a data set anew after its file was changed, or another one with a budget of its own."""
    from sordino.serve.keeping.identity import local_owner

    budget = {word: value for word, value in (("epsilon", epsilon), ("delta", delta)) if value is not None}
    with opened(directory) as service:
        found = service.register(local_owner(), read_text(file), budget or None)
    tables = found.get("tables")  # of no other sort of data
    what = found["sort"] if tables is None else f"{sum(len(table['columns']) for table in tables)} columns"
    say(f"{found['name']} is declared: {what}, protects each {found['unit']}, {found['budget']['budget']}")


def _register(settings: Settings, text: str, budget: dict[str, Any]) -> None:
    from sordino.serve.keeping.identity import local_owner
    from sordino.serve.service import Service

    with Service.open(settings) as service:
        service.register(local_owner(), text, budget)


def _name_of(source: str) -> str:
    path = Path(source)
    if "://" in source:
        raise ArgumentError("say by --name what the table is called", "SRD-A003")
    plain = path.parent.name if any(letter in path.name for letter in _GLOB) else path.name.split(".", 1)[0]
    return plain.replace("-", "_")


def _looked_at(name: str, source: str, unit: str) -> Dataset:
    """Open a data set, of which names and types of columns are read."""
    from sordino.accounting.bound import ROW
    from sordino.data.dataset import dataset

    return dataset(name, source, unit=ROW if unit == ROW.name else unit)


def _settings(directory: Path, source: str) -> tuple[Settings, bool]:
    """Return the settings that there are, or those to begin with, and whether they are new."""
    from sordino.serve.settings import Settings

    if (directory / _SETTINGS).exists():
        return settings_in(directory), False
    if not directory.is_dir():
        raise ArgumentError(f"{directory} is no directory; make it first", "SRD-A003")
    data = directory.absolute() if "://" in source else _data_directory(directory, source)
    return beside(directory, Settings(database=_DATABASE, data=str(data))), True


def _data_directory(directory: Path, source: str) -> Path:
    """Return the directory itself if the files lie in it, else the one that they lie in."""
    parents = [part for part in Path(os.path.abspath(source)).parents if not any(sign in str(part) for sign in _GLOB)]
    here = directory.resolve()
    return here if parents[0].resolve().is_relative_to(here) else parents[0].resolve()


def _settings_text(settings: Settings, directory: Path) -> str:
    from sordino.serve.proposing import yaml_lines

    here = directory.absolute()
    said = {
        name: os.path.relpath(path, here) if Path(path).is_relative_to(here) else path
        for name, path in (("database", settings.database), ("data", settings.data))
    }
    return "# Paths are relative to this file.\n" + yaml_lines(said)
