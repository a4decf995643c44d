"""``sordino look``: how much of the data counts as it is declared, for its owner, before a budget is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .place import HERE, DirectoryOption, opened, read_text, say

SETTINGS = "sordino.yaml"


def look(
    file: Annotated[Path, typer.Argument(help="A YAML file of declarations whose data set has no budget yet.")],
    directory: DirectoryOption = HERE,
) -> None:
    """Look at the data as its owner, before a budget is opened: rows that count, lines and values that do not.

    The file is marked by what it declares now; whatever is changed in it later is told as set after looking.
    """
    from sordino.data.declarations_file import dataset_from_file
    from sordino.serve import looking
    from sordino.serve.keeping.identity import local_owner

    text = read_text(file)
    if (directory / SETTINGS).exists():
        with opened(directory) as service:
            found = looking.look(service.house, local_owner(), text)
        report, marked = found["report"], found["declarations"]
    else:  # there is no ledger yet, and so no budget
        health = dataset_from_file(file).health()
        report, marked = str(health), looking.marked(text, health.looked)
    file.write_text(marked, encoding="utf-8")
    say(report)
    say(f"For the owner alone. {file} is marked: what is changed in it from now on is told as set after looking.")
