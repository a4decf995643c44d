"""The row of publications: a recipe is priced without data, and run as a job in a process of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sordino.data.account import DataAccount
from sordino.publish.price import Price
from sordino.publish.publication import Publication
from sordino.publish.recipes import read
from sordino.serve.kinds.kind import Command, Kind, Plain, Quoted, Running, Shapes
from sordino.serve.kinds.page import Page

from .asked import Asked
from .genotypes import GENOTYPES
from .graphs import GRAPHS


def publication(data: DataAccount[Any], asked: Asked) -> Publication[Any]:
    """Return what is asked for, of a data set or of its outline."""
    return Publication(data, read(asked.recipe, data.protected, asked.parameters))


def _price(data: DataAccount[Any], asked: Asked) -> Quoted:
    found = publication(data, asked)
    return Quoted.of(found.plan(**asked.words), **_told(asked, found.price(**asked.words)))


def _told(asked: Asked, price: Price) -> Plain:
    return {
        "recipe": asked.recipe,
        "epsilon": None if price.epsilon is None else float(price.epsilon),
        "rho": None if price.rho is None else float(price.rho),
        "delta": float(price.delta) or None,
        "errors": [
            {
                "name": each.name,
                "amount": each.amount if math.isfinite(each.amount) else None,
                "measure": each.measure,
                "at_most": each.at_most,
                "text": str(each),
            }
            for each in price.errors
        ],
        "notes": list(price.notes),
        "confidence": float(price.confidence),
    }


# What follows is loaded when it is first needed: a process that finds prices reads no files and draws no pages.


def _run(data: DataAccount[Any], asked: Asked, running: Running) -> Any:
    from .worked import run

    return run(data, asked, running)


def _shapes() -> Shapes:
    from .shapes import Priced, Published, Released

    return Shapes(Published, Priced, Released)


def _page(body: Mapping[str, Any]) -> Page:
    from .shown import release_page

    return release_page(body)


def _pages() -> Any:
    from .pages import router

    return router


def _again(asked: Mapping[str, Any]) -> str:
    from .shown import again

    return again(asked)


def _command() -> Command:
    from .command import command

    return command()


def _price_text(told: Mapping[str, Any]) -> str:
    from .shown import price_text

    return price_text(told)


def _release_text(body: Mapping[str, Any]) -> str:
    from .shown import release_text

    return release_text(body)


PUBLICATION = Kind(
    name="publication",
    title="a publication",
    read=Asked.read,
    price=_price,
    run=_run,
    about=("tables", "graph", "genotypes"),
    sorts=(GRAPHS, GENOTYPES),
    apart=True,
    files=("publication.zip", "picture.png"),
    begun_at=("/publications/new", "Publish"),
    watched_at="/publications/",
    shapes=_shapes,
    page=_page,
    pages=_pages,
    again=_again,
    command=_command,
    price_text=_price_text,
    release_text=_release_text,
)
