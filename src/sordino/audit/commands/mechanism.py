"""``sordino audit mechanism``: measure what a mechanism gives away, and say whether its claim is refuted."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from sordino.errors import ArgumentError
from sordino.serve.commands.place import JsonOption

from . import showing
from .calling import load_callable

_NEIGHBOURS = ("scalars", "lists", "without_one", "with_one_replaced", "with_one_doubled", "emptied")


def mechanism(
    subject: Annotated[
        str,
        typer.Argument(
            help="package.module:release, called as release(value, n) for n outputs; or a name of sordino's."
        ),
    ],
    epsilon: showing.EpsilonOption = None,
    delta: showing.DeltaOption = None,
    mu: showing.MuOption = None,
    event: showing.EventOption = None,
    pair: Annotated[
        tuple[str, str] | None, typer.Option("--pair", help="Two neighbouring inputs, in JSON: --pair 0 1.")
    ] = None,
    neighbours: Annotated[
        str | None,
        typer.Option(
            help="Or inputs to search: scalars, lists:5, or, for a table in JSON, without_one:[…], "
            "with_one_replaced:[…], with_one_doubled:[…], emptied:[…]."
        ),
    ] = None,
    each: Annotated[bool, typer.Option("--each", help="The callable takes a value and gives one output.")] = False,
    parameters: Annotated[
        list[str] | None, typer.Option("--with", help="A parameter of sordino's mechanism: --with scale=2.")
    ] = None,
    sensitivity: Annotated[
        str | None, typer.Option(help="How far one unit moves the input of sordino's mechanism; 1 if left out.")
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(help="package.module:function of one output, which returns what is looked at instead."),
    ] = None,
    low_bits: Annotated[
        bool, typer.Option("--low-bits", help="Judge what the last bits of doubles give away, too.")
    ] = False,
    draws: Annotated[int, typer.Option(min=100, help="Outputs to draw on each side.")] = 200_000,
    confidence: showing.ConfidenceOption = 0.99,
    seed: showing.SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure a mechanism's ε from below. Exit code 1: its claim is refuted; 2: nothing could be counted."""
    from sordino.audit.measuring import measure

    claim, pairs = showing.claim_of(epsilon, delta, mu, event), _pairs(pair, neighbours)
    judged = (
        _theirs(subject, pairs, each=each) if ":" in subject else _ours(subject, parameters or [], sensitivity, pairs)
    )
    with showing.bar("draws") as told:
        seen = None if view is None else load_callable(view)
        found = measure(
            judged,
            claim,
            draws=draws,
            confidence=confidence,
            seed=seed,
            progress=told,
            view=seen,
            low_bits=low_bits,
        )
    showing.conclude(found, refuted=found.refuted, as_json=as_json, nothing=not found.counted)


def _theirs(path: str, pairs: Any, *, each: bool) -> Any:
    from sordino.audit import subject

    if pairs is None:
        raise ArgumentError("give neighbouring inputs to try: --pair 0 1, or --neighbours scalars", "SRD-A003")
    called = load_callable(path)
    return subject.Subject(path, subject.each(called) if each else called, pairs)


def _ours(name: str, parameters: list[str], sensitivity: str | None, pairs: Any) -> Any:
    from sordino import mechanisms
    from sordino.accounting.bound import Bound
    from sordino.audit import subject

    kind = getattr(mechanisms, name, None) if name in mechanisms.__all__ else None
    if kind is None or not hasattr(kind, "release"):
        known = ", ".join(each for each in mechanisms.__all__ if hasattr(getattr(mechanisms, each), "release"))
        raise ArgumentError(
            f"sordino has no mechanism {name[:60]!r}; it has {known}. To audit code of your own, write "
            "package.module:release",
            "SRD-A002",
        )
    given = dict(_parameter(each) for each in parameters)
    try:
        built = kind(**given)
    except TypeError:
        wanted = ", ".join(each for each in kind.__dataclass_fields__)
        raise ArgumentError(f"{name} is built from {wanted}; give each by --with name=value", "SRD-A003") from None
    return subject.of(built, bound=None if sensitivity is None else Bound.scalar(sensitivity), pairs=pairs)


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentError(f"{text[:60]!r} must read name=value, as --with scale=2", "SRD-A001")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _pairs(pair: tuple[str, str] | None, neighbours: str | None) -> Any:
    if pair is not None and neighbours is not None:
        raise ArgumentError("give --pair or --neighbours, not both", "SRD-A003")
    if pair is not None:
        return (tuple(_json(side) for side in pair),)
    return None if neighbours is None else _searched(neighbours)


def _searched(text: str) -> Any:
    from sordino.audit import neighbours

    name, _, argument = text.partition(":")
    if name not in _NEIGHBOURS:
        raise ArgumentError(f"--neighbours must begin with {', '.join(_NEIGHBOURS)}, not {name[:40]!r}", "SRD-A002")
    if name == "scalars":
        return neighbours.scalars(_json(argument) if argument else 1)
    if not argument:
        raise ArgumentError("write --neighbours lists:5, or --neighbours 'without_one:[3, 1, 4]'", "SRD-A003")
    return getattr(neighbours, name)(_json(argument))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise ArgumentError(f'{text[:60]!r} is not JSON; write numbers, [lists] or "texts"', "SRD-A004") from None
