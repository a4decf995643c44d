"""The row of trainings: a recipe is priced without data, and run as a job in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sordino.data.account import DataAccount
from sordino.serve.kinds.kind import Command, Kind, Quoted, Running, Shapes
from sordino.serve.kinds.page import Page
from sordino.serve.kinds.sort import Sort

from .costs import Costs
from .declared import Declared, read
from .recipe import Recipe


def _price(data: DataAccount[Declared], recipe: Recipe) -> Quoted:
    costs = Costs.of(recipe, data.protected, data.budget)
    return Quoted(costs.event(), costs.sampler.neighbours, costs.told())


# What follows is loaded when it is first needed: a process that finds prices reads no files and draws no pages.


def _open(declared: Declared) -> Any:
    from .stored import opened

    return opened(declared)


def _run(data: DataAccount[Any], recipe: Recipe, running: Running) -> Any:
    from .worked import run

    return run(data, recipe, running)


def _shapes() -> Shapes:
    from .shapes import Priced, Released, Training

    return Shapes(Training, Priced, Released)


def _about(told: Mapping[str, Any]) -> Page:
    from .shown import examples_page

    return examples_page(told)


def _page(body: Mapping[str, Any]) -> Page:
    from .shown import release_page

    return release_page(body)


def _pages() -> Any:
    from .pages import router

    return router


def _again(recipe: Mapping[str, Any]) -> str:
    from .shown import again

    return again(recipe)


def _command() -> Command:
    from .command import command

    return command()


def _commands() -> tuple[str, Any]:
    from .learning import app

    return "learn", app


def _price_text(told: Mapping[str, Any]) -> str:
    from .shown import price_text

    return price_text(told)


def _release_text(body: Mapping[str, Any]) -> str:
    from .shown import release_text

    return release_text(body)


EXAMPLES = Sort(
    name="examples",
    read=read,
    sources=lambda declared: {"the examples": declared.file},
    open=_open,
    outline=lambda examples: examples.declared,
    public=lambda examples: examples.declared.public(),
    carried=lambda before, given: before.carried(given),
    page=_about,
)

TRAINING = Kind(
    name="training",
    title="a training",
    read=Recipe.read,
    price=_price,
    run=_run,
    about=("examples",),
    sorts=(EXAMPLES,),
    apart=True,
    files=("weights.npz",),
    begun_at=("/trainings/new", "Train a model"),
    watched_at="/trainings/",
    shapes=_shapes,
    page=_page,
    pages=_pages,
    again=_again,
    command=_command,
    commands=_commands,
    price_text=_price_text,
    release_text=_release_text,
)
