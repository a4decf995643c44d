"""``sordino epsilon`` (what a noise costs) and ``sordino noise`` (what noise a target needs), in every accountant."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from sordino.accounting.accountants import Quote, side_by_side
from sordino.accounting.calibration import calibrate
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    FixedSizeSampled,
    Gaussian,
    Laplace,
    PoissonSampled,
    RandomizedResponse,
    Repeated,
)
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.relation import charged_as, relations
from sordino.accounting.units import significant
from sordino.arguments import rational
from sordino.errors import ArgumentError, UnsupportedError

from .place import JsonOption, say_json


class Kind(StrEnum):
    """What is run, by the name that events have in JSON."""

    GAUSSIAN = "gaussian"
    DISCRETE_GAUSSIAN = "discrete-gaussian"
    LAPLACE = "laplace"
    DISCRETE_LAPLACE = "discrete-laplace"
    RANDOMIZED_RESPONSE = "randomized-response"
    EXPONENTIAL = "exponential"


BUILD: dict[Kind, Callable[[Fraction], Event]] = {
    Kind.GAUSSIAN: lambda noise: Gaussian(noise**2),
    Kind.DISCRETE_GAUSSIAN: lambda noise: DiscreteGaussian(noise**2),
    Kind.LAPLACE: Laplace,
    Kind.DISCRETE_LAPLACE: DiscreteLaplace,
    Kind.RANDOMIZED_RESPONSE: lambda noise: RandomizedResponse(1 / noise),
    Kind.EXPONENTIAL: lambda noise: Exponential(1 / noise),
}
"""From the noise per unit of sensitivity (σ, a scale, or 1/ε where there is no noise) to the event."""

KindOption = Annotated[Kind, typer.Option("--mechanism", "-m", help="What is run.")]
DeltaOption = Annotated[str | None, typer.Option(help="Target δ; leave out for pure ε only.")]
RateOption = Annotated[str | None, typer.Option(help="Poisson sampling rate: each unit joins a step independently.")]
BatchOption = Annotated[int | None, typer.Option(help="Fixed batch size, drawn without replacement (replace-one).")]
PopulationOption = Annotated[int | None, typer.Option(help="How many units there are, with --batch.")]
StepsOption = Annotated[int, typer.Option(help="How often it is run.")]
RelationOption = Annotated[
    Neighbours | None,
    typer.Option(help="Neighbouring relation of the price; what is given for add/remove has its replace-one price."),
]


def epsilon(
    noise: Annotated[
        str | None, typer.Option(help="Noise per unit of sensitivity: σ for Gaussian, scale for Laplace, else 1/ε.")
    ] = None,
    mechanism: KindOption = Kind.GAUSSIAN,
    rate: RateOption = None,
    batch: BatchOption = None,
    population: PopulationOption = None,
    steps: StepsOption = 1,
    events: Annotated[
        Path | None, typer.Option(help="A file of events in JSON, one a line, priced together instead of --noise.")
    ] = None,
    delta: DeltaOption = None,
    relation: RelationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Price a noise, a training run or a list of events: every accountant side by side."""
    if (noise is None) == (events is None):
        raise ArgumentError("give either --noise (and what is run with it) or --events FILE", "SRD-A003")
    if events is not None:
        event = read_events(events)
    else:
        event = _sampled(BUILD[mechanism](rational("noise", noise, above=0)), rate, batch, population, steps)
    _show(_under(event, relation), delta, as_json)


def noise(
    epsilon: Annotated[str, typer.Option(help="Target ε.")],
    mechanism: KindOption = Kind.GAUSSIAN,
    rate: RateOption = None,
    batch: BatchOption = None,
    population: PopulationOption = None,
    steps: StepsOption = 1,
    delta: DeltaOption = None,
    relation: RelationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the least noise per unit of sensitivity that keeps a run within ε and δ, by every accountant."""

    def build(level: Fraction) -> Event:
        return _under(_sampled(BUILD[mechanism](level), rate, batch, population, steps), relation)

    target = rational("epsilon", epsilon, above=0)
    found: dict[str, float | None] = {}
    for quote in side_by_side(build(Fraction(1)), delta):
        if quote.epsilon is None:
            continue
        try:
            found[quote.calculus] = float(calibrate(build, epsilon=target, delta=delta, calculus=quote.calculus))
        except UnsupportedError:
            found[quote.calculus] = None
    if as_json:
        say_json({"epsilon": str(target), "delta": delta, "mechanism": mechanism.value, "noise": found})
        return
    table = Table()
    table.add_column("accountant")
    table.add_column("noise", justify="right")
    for calculus, level in found.items():
        table.add_row(calculus, "out of reach" if level is None else _digits(level, ROUND_CEILING))
    _print_table(f"least noise per unit of sensitivity for ε = {epsilon}", delta, table)


def read_events(path: Path) -> Event:
    """Return all events of a file (canonical JSON, one a line) as one composed event."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise ArgumentError(f"{path} cannot be read as text; give a file of events in JSON", "SRD-A004") from None
    events = tuple(Event.from_json(line) for line in lines if line.strip())
    if not events:
        raise ArgumentError(f"{path} holds no events; write one event in JSON on each line", "SRD-A004")
    return Composed(events)


def _sampled(event: Event, rate: str | None, batch: int | None, population: int | None, steps: int) -> Event:
    if rate is not None and batch is not None:
        raise ArgumentError("give --rate (Poisson sampling) or --batch (fixed size), not both", "SRD-A003")
    if (batch is None) != (population is None):
        raise ArgumentError("--batch and --population go together", "SRD-A003")
    if rate is not None:
        event = PoissonSampled(event, rational("rate", rate))
    if batch is not None and population is not None:
        event = FixedSizeSampled(event, batch, population)
    return Repeated(event, steps)


def _under(event: Event, relation: Neighbours | None) -> Event:
    """Return what is priced under a relation, or refuse what has no meaning under it (or, left out, under any)."""
    known = relations(event)
    if relation is None or relation in known:
        return event
    return charged_as(event, min(known, key=list(Neighbours).index), relation)


def _show(event: Event, delta: str | None, as_json: bool) -> None:
    quotes = side_by_side(event, delta)
    if as_json:
        held = [each.value for each in Neighbours if each in relations(event)]
        quoted = [_plain(quote) for quote in quotes]
        say_json({"event": json.loads(event.to_json()), "delta": delta, "neighbours": held, "quotes": quoted})
        return
    table = Table()
    table.add_column("accountant")
    table.add_column("ε", justify="right")
    table.add_column("pair ≥", justify="right")
    table.add_column("remark")
    for quote in quotes:
        table.add_row(
            quote.calculus, _digits(quote.epsilon, ROUND_CEILING), _digits(quote.lower, ROUND_FLOOR), quote.remark
        )
    under = " or ".join(each.value for each in Neighbours if each in relations(event))
    _print_table(f"what it costs for neighbours under {under}", delta, table)


def _plain(quote: Quote) -> dict[str, Any]:
    return {
        "calculus": quote.calculus,
        "epsilon": quote.epsilon,
        "pair_at_least": quote.lower,
        "wide": quote.wide,
        "remark": quote.remark,
    }


def _digits(value: float | None, rounding: str) -> str:
    return "–" if value is None else f"{float(significant(Fraction(value), 6, rounding)):g}"


def _print_table(title: str, delta: str | None, table: Table) -> None:
    console = Console(highlight=False)
    console.print(f"[bold]{title}[/], " + (f"δ = {delta}" if delta else "pure (no δ)"))
    console.print(table)
