"""What a member hands in: its clients' or patients' vectors, clipped one by one, in steps, with its share of noise.

**Guarantee**: one unit moves what its member hands in by at most its clip, whatever the callback returns: NaN, a huge
or misshapen vector, an error and a record that cannot be read count as a clipped vector or as 0; nobody is told which.
**Assumes**: the callback's answer about a unit depends on that unit's records and the weights alone (no state that it
keeps from one to the next) and takes no time that makes its member miss a round; no two members hold records of one
unit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sordino import noise
from sordino.errors import ArgumentError
from sordino.learn.run.examples import Examples
from sordino.learn.run.rows import Array, Batch
from sordino.mechanisms.grid import Steps

from .plan import Recipe
from .populations import CLIENT


class Party(Protocol):
    """A member, as far as its data goes."""

    def summed(self, weights: Array, recipe: Recipe) -> Steps:
        """Return the sum of its units' clipped vectors: secret."""
        ...

    def check(self, recipe: Recipe) -> None:
        """Refuse a recipe that protects somebody else, before anything is charged."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Client:
    """A member that is the unit: `update` goes from the weights to the change that it proposes."""

    update: Callable[[Array], Any]
    kind: str | None = None
    """The class of clients that it belongs to, where each has an ε of its own: public."""

    def proposed(self, weights: Array) -> Any:
        """Return its update, None if it fails: secret."""
        return _or_nothing(self.update, weights)

    def summed(self, weights: Array, recipe: Recipe) -> Steps:
        """Return its clipped update."""
        return recipe.steps_of(self.kind).of(self.proposed(weights))

    def check(self, recipe: Recipe) -> None:
        """Refuse a recipe of patients."""
        _check_unit(recipe, recipe.unit == CLIENT)


@dataclass(frozen=True, eq=False, repr=False)
class Patients:
    """A member that holds many units. `update` goes from weights and one unit's records to the change they propose.

    Records are the examples' parts, each with the rows of one unit: for one gradient step at a learning rate of r, an
    update is −r times the gradient on those rows. Examples without owners have one row for each unit.
    """

    examples: Examples
    update: Callable[[Array, Batch], Any]

    def summed(self, weights: Array, recipe: Recipe) -> Steps:
        """Return the sum of the clipped updates of those for whom a coin falls."""
        people, steps = self.examples.people(), recipe.steps

        def proposed(unit: int) -> Any:  # a record that cannot be read is as silent as an update that fails
            records, _ = people.take(np.array([unit]))
            return self.update(weights, records)

        total: Steps = np.zeros(recipe.parameters, dtype=np.int64)
        for unit in np.flatnonzero(noise.bernoulli(recipe.rate, len(people))):
            total += steps.of(_or_nothing(proposed, int(unit)))
        return total

    def check(self, recipe: Recipe) -> None:
        """Refuse a recipe of clients, or of another unit than the examples' owners."""
        _check_unit(recipe, recipe.unit != CLIENT)
        if self.examples.by_owner and self.examples.unit != recipe.unit:
            raise ArgumentError(
                f"this training protects each {recipe.unit.name}, but the owners of these examples are each a "
                f"{self.examples.unit.name}, of which one {recipe.unit.name} may have several; declare owners= of the "
                "unit that is protected",
                "SRD-A003",
            )


def handed_in(party: Party, weights: Array, recipe: Recipe) -> Steps:
    """Return what a member hands in to a masked sum: its sum, stopped at the cap, and its share of noise."""
    fixed = weights.copy()
    fixed.setflags(write=False)  # what one unit's update did to them would reach the next
    inside = np.clip(party.summed(fixed, recipe), -recipe.cap, recipe.cap)
    return np.asarray(inside + recipe.law.draw(recipe.parameters), dtype=np.int64)


def _or_nothing(update: Callable[..., Any], *given: Any) -> Any:
    """Return what a callback returns, None if it fails: its words may hold data."""
    try:
        return update(*given)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # what is written in Rust panics past Exception
        return None


def _check_unit(recipe: Recipe, fits: bool) -> None:
    if not fits:
        raise ArgumentError(
            f"this training protects each {recipe.unit.name}: use Client(update) where a member is the unit, "
            "Patients(examples, update) where it holds many",
            "SRD-A003",
        )
