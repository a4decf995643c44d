"""What all audits print: a bar on standard error while they run, then findings and a verdict line, or one JSON object.

The exit code is for build servers: 1 where a claim is refuted, 0 where it is not, 2 where nothing could be audited.
"""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import TracebackType
from typing import Annotated, Any, ParamSpec

import typer
from rich.console import Console

from sordino.errors import ArgumentError, SordinoError
from sordino.serve.commands.place import say, say_json

EpsilonOption = Annotated[str | None, typer.Option("--epsilon", help="The claim: ε.")]
DeltaOption = Annotated[str | None, typer.Option("--delta", help="The claim: δ, with --epsilon.")]
MuOption = Annotated[str | None, typer.Option("--mu", help="The claim: μ of Gaussian DP, instead.")]
EventOption = Annotated[
    str | None, typer.Option("--event", help="The claim: an event in JSON, at its best price, instead.")
]
SeedOption = Annotated[int | None, typer.Option("--seed", help="The auditor's own randomness, to repeat an audit.")]
ConfidenceOption = Annotated[float, typer.Option("--confidence", help="The confidence of the lower bound.")]


P = ParamSpec("P")
_FORESEEN = (SordinoError, typer.Exit, typer.Abort, typer.BadParameter)


def claim_of(epsilon: str | None, delta: str | None, mu: str | None, event: str | None = None) -> Any:
    """Return the claim that the options make, or None if they make none."""
    from sordino.accounting.event import Event
    from sordino.audit.claim import Claim

    given = [name for name, value in (("--epsilon", epsilon), ("--mu", mu), ("--event", event)) if value is not None]
    if len(given) > 1:
        raise ArgumentError(f"make one claim: {' or '.join(given)}, not both", "SRD-A003")
    if delta is not None and epsilon is None:
        raise ArgumentError("--delta belongs to a claim of (ε, δ): give --epsilon with it", "SRD-A003")
    if epsilon is not None:
        return Claim.pure(epsilon) if delta is None else Claim.approximate(epsilon, delta)
    if mu is not None:
        return Claim.gaussian(mu)
    return None if event is None else Claim.of(Event.from_json(event))


class Crash:
    """While this is open, an error that nobody foresaw ends the command with exit code 2, not with that of a verdict.

    Python ends with 1 where it crashes, which a build server would read as *refuted*.
    """

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or not issubclass(kind, Exception) or issubclass(kind, _FORESEEN):
            return
        traceback.print_exception(kind, error, trace)
        raise typer.Exit(2)


def ending_well(command: Callable[P, None]) -> Callable[P, None]:
    """Return a command whose crashes are not verdicts."""

    @wraps(command)
    def run(*values: P.args, **words: P.kwargs) -> None:
        with Crash():
            command(*values, **words)

    return run


@contextmanager
def bar(what: str) -> Iterator[Callable[[float], None]]:
    """Yield what is told how far an audit is, from 0 to 1, and draws that on standard error where somebody looks."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn(what), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as drawn:
        task = drawn.add_task(what, total=1.0)
        yield lambda done: drawn.update(task, completed=float(done))


def conclude(found: Any, *, refuted: bool, as_json: bool, nothing: bool = False) -> None:
    """Print what an audit found, by its own words, and end with the exit code of its verdict.

    `nothing` says that something, or all, could not be audited, where *not refuted* would promise too much.
    """
    if as_json:
        told = found.to_json()
        say_json(_finite(json.loads(told) if isinstance(told, str) else told))
    else:
        say(str(found))
    if refuted or nothing:
        raise typer.Exit(1 if refuted else 2)


def _finite(value: Any) -> Any:
    """Return plain data in which what is endless or no number is a text: JSON has no word for either."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return {name: _finite(each) for name, each in value.items()}
        case list() | tuple():
            return [_finite(each) for each in value]
    return value
