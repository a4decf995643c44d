"""What a trusted server makes of clients' updates: each clipped, all added up, and noise added once.

**Guarantee**: that of ``plan.py``, for whoever sees what comes out and not who was drawn. One client moves the sum by
at most the clip, and where the clip adapts the count of those within it by 1, whatever it sends: NaN, zeros, huge or
misshapen arrays. What comes out is a function of noisy whole numbers.
**Assumes**: the server is honest, keeps updates to itself, and hides who took part in which round.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from sordino import noise as chance
from sordino.learn.run.rows import Array
from sordino.mechanisms.grid import Steps

from .plan import Recipe, RoundPlan
from .rounds import Opened, Turn


@dataclass(frozen=True, eq=False, repr=False)
class Proposal:
    """What a client sent: secret, and not looked at yet."""

    kind: str | None
    """The class that it says it is of, where each has an ε of its own."""
    update: Any


class Clients(Protocol):
    """Whom a trusted server can ask."""

    def present(self, recipe: Recipe) -> Sequence[int]:
        """Return who is there, by numbers that stay."""
        ...

    def proposals(self, turn: Turn, drawn: Sequence[int]) -> Iterable[Proposal]:
        """Ask those drawn; return what came in time, one for each at most."""
        ...


class OpenSums:
    """The rounds of a training whose server is trusted."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def __call__(self, turn: Turn) -> Opened:
        """Return the noisy sum of a round, and the clip of the next."""
        plan = turn.plan
        there = self._clients.present(plan.recipe)
        comes = chance.bernoulli(plan.recipe.rate, len(there))
        drawn = [each for each, falls in zip(there, comes, strict=True) if falls]
        return _opened(plan, self._clients.proposals(turn, drawn))


def _opened(plan: RoundPlan, proposals: Iterable[Proposal]) -> Opened:
    recipe, radius = plan.recipe, plan.recipe.radius(plan.clip)
    clip = 1.0 if radius is None else radius.radius
    total: Steps = np.zeros(recipe.parameters, dtype=np.int64)
    norms: list[float] = []
    for each in proposals:
        vector = recipe.steps.read(each.update)
        with np.errstate(all="ignore"):  # what is too large for floats in units of the clip counts as 0
            norms.append(float(np.linalg.norm(vector)))
            total = total + recipe.steps_of(each.kind).of(vector / clip)
    noisy: Array = recipe.steps.grid.from_steps(total + recipe.law.draw(recipe.parameters)) * clip
    if radius is None:
        return Opened(noisy)
    moved = radius.release(np.array(norms), plan.grant_of_count(radius))
    return Opened(noisy, Fraction(moved.radius))
