"""``sordino learn price``: what a training costs, or which noise it needs, by its numbers alone; no data set, no model.

The price is that of tranches in a budget of the training's own, as an account charges it; ``sordino epsilon`` shows
other accountants beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import ROUND_CEILING
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from sordino.accounting.bound import ROW
from sordino.accounting.budget import Budget
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.units import significant
from sordino.arguments import rational, whole
from sordino.errors import ArgumentError
from sordino.learn.run.paying import TRANCHES
from sordino.serve.kinds.kind import Plain

from .command import read_recipe
from .costs import Costs
from .declared import Declared
from .recipe import Recipe
from .shown import noise_words, spent_words

app = typer.Typer(help="Trainings: what they cost.", no_args_is_help=True)
_TRIED = 60
_STEP = Fraction(102, 100)


@app.callback()
def learn() -> None:
    """Trainings: what they cost."""


@app.command()
def price(
    recipe: Annotated[Path | None, typer.Argument(help="A file with a recipe, as YAML; words below change it.")] = None,
    size: Annotated[int | None, typer.Option(help="About how many units there are.")] = None,
    batch: Annotated[int | None, typer.Option(help="How many units a step has on average.")] = None,
    epochs: Annotated[str | None, typer.Option(help="How often each unit is seen on average; or --steps.")] = None,
    steps: Annotated[int | None, typer.Option(help="How many steps.")] = None,
    noise: Annotated[str | None, typer.Option(help="Noise in units of the clip: then ε is told.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="What may be spent: then the noise is told.")] = None,
    rho: Annotated[str | None, typer.Option(help="The same as ρ.")] = None,
    delta: Annotated[str, typer.Option(help="The δ of the budget.")] = "1e-5",
    sampling: Annotated[str | None, typer.Option(help="poisson, fixed-size, one-pass or separated.")] = None,
    pay: Annotated[str | None, typer.Option(help="tranches, as it goes, or whole, before it begins.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Tell what a training costs; touches nothing, and needs no data set."""
    given = {"batch": batch, "epochs": epochs, "steps": steps, "noise": noise, "epsilon": epsilon, "rho": rho}
    given |= {"sampling": sampling, "pay": pay}
    typed = {name: value for name, value in given.items() if value is not None}
    written = {} if recipe is None else read_recipe(recipe)
    told = told_of({"dataset": "none", "model": "linear", "clip": 1, **written, **typed}, size, delta)
    if as_json:
        typer.echo(json.dumps(told, ensure_ascii=False))
        return
    typer.echo(f"{told['steps']:,} steps of {told['batch']:,} on average")
    typer.echo(f"{noise_words(told)}: within {spent_words(told)}")


def told_of(words: Plain, size: int | None, delta: str) -> Plain:
    """Return what a recipe comes to for a data set of so many units, in a budget of its own."""
    if size is None:
        raise ArgumentError("say --size, about how many units there are: samples are drawn at batch/size", "SRD-A003")
    asked = Recipe.read(words)
    relation = Neighbours.REPLACE_ONE if asked.sampling == "fixed-size" else Neighbours.ADD_REMOVE
    units = whole("size", size, least=1)
    declared = Declared("none", ROW, relation, units, 2, "", ("x",), "y", None, None, (1,))
    own = rational("delta", delta, above=0)
    costs = Costs.of(asked, declared, Budget(epsilon=rational("epsilon", words.get("epsilon", 1)), delta=own))
    if "noise" in words and costs.measure == "epsilon" and asked.pay == TRANCHES:
        costs = _least(lambda epsilon: Costs.of(asked, declared, Budget(epsilon=epsilon, delta=own)), costs)
    return costs.told()


def _least(of: Callable[[Fraction], Costs], costs: Costs) -> Costs:
    """Return the same in a budget that holds it, of about the least ε: tried upwards from what a run alone costs."""
    for _ in range(3):  # a budget of about its size has the orders that tell least
        costs = of(_rounded_up(Fraction(costs.spent(costs.ran(costs.steps)))))
    epsilon = Fraction(costs.rule.budget.epsilon or 1)
    for power in range(_TRIED):
        found = of(_rounded_up(epsilon * _STEP**power))
        if found.rule.fits(found.rule.columns.nothing, found.rule.charge(found.event())):
            return found
    return costs


def _rounded_up(epsilon: Fraction) -> Fraction:
    return Fraction(significant(epsilon, 6, ROUND_CEILING))
