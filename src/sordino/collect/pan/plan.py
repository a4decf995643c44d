"""What pan-private counting costs: every state that may be seen, and every output, paid for before the first update."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.events import Composed, Pure, Repeated
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import Number, rational, whole
from sordino.data.account import Protected
from sordino.errors import ArgumentError
from sordino.mechanisms.laplace import Laplace

from .coins import Coins

_MOST = 64
"""States that may be kept or seen, of each sort; more would leave no strength."""
_MOST_RELEASES = 1000
_LARGEST_SHARE = Fraction(1, 4)
_SMALLEST = Fraction(1, 10**9)
_CALM = 8
"""Outputs have this much less noise than the cells, if no more than the largest share of ε suffices for it."""


class Seen(NamedTuple):
    """How often states may be seen and outputs made."""

    saves: int
    intrusions: int
    releases: int

    @property
    def views(self) -> int:
        """How many states may be seen in all: each version that is kept counts as one."""
        return self.saves + self.intrusions

    @property
    def randomisations(self) -> int:
        """How often cells are randomised anew at most: before and after each save, and after each intrusion."""
        return 2 * self.saves + self.intrusions - 1


def seen(saves: int, intrusions: int, releases: int) -> Seen:
    """Return how often states may be seen, checked."""
    return Seen(
        whole("saves", saves, least=0, most=_MOST),
        whole("intrusions", intrusions, least=1, most=_MOST),
        whole("releases", releases, least=1, most=_MOST_RELEASES),
    )


@dataclass(frozen=True)
class PanPlan:
    """Counting in so many cells. `ids` says how units are named; None where they are numbers of cells themselves."""

    dataset: str
    unit: Unit
    cells: int
    ids: str | None
    items: tuple[str, ...]
    saves: int
    intrusions: int
    releases: int
    coins: Coins
    output: Laplace

    kind: ClassVar[str] = "pan-private"
    days: ClassVar[tuple[str, ...]] = ()
    large: ClassVar[bool] = False

    @property
    def parts(self) -> int:
        """Each save, each intrusion that is announced, and each output."""
        return self.saves + self.intrusions - 1 + self.releases

    @property
    def bound(self) -> Bound:
        """What one unit can change of the counts of an output: its cell leaves one and comes to another."""
        return counts_bound(self.unit, len(self.items))

    def event(self) -> Event:
        """Return all states that may be seen, and all outputs."""
        return Composed((Pure(self.coins.epsilon), Repeated(self.output.event(self.bound), self.releases)))

    def digest(self) -> str:
        """Return the digest of the plan."""
        return digest_of((self.kind, self))

    def standard_error(self, randomised: int | None = None, held: float = 0) -> float:
        """Return the standard error of an estimated number of cells, after so many randomisations (by default all).

        An estimate is the number of cells with an item, less that of those with 0, divided by the strength τ. A cell
        adds x to that difference, 1 or −1 with probability 1/D each; a cell that holds the item has it with τ more,
        which adds τ(1 − τ − 2/D) to the variance. `held` is how many do.
        """
        strength = float(self.coins.strength(self.randomisations if randomised is None else randomised))
        values = len(self.items) + 1
        noise = (4 if values == 2 else 2) * float(self.output.law.variance)
        more = max(held, 0) * max(strength * (1 - strength - 2 / values), 0)
        return math.sqrt(2 * self.cells / values + more + noise) / strength if strength else math.inf

    @property
    def randomisations(self) -> int:
        """How often cells may be randomised anew."""
        return Seen(self.saves, self.intrusions, self.releases).randomisations


def counts_bound(unit: Unit, items: int) -> Bound:
    """Return how far an output's counts move with one cell: one count of two, where the other is the rest."""
    return Bound.scalar(1, unit=unit) if items == 1 else Bound.vector(l0=2, linf=1, unit=unit)


def pan_plan(
    protected: Protected, epsilon: Number, *, cells: int, ids: str | None, items: tuple[str, ...], seen: Seen
) -> PanPlan:
    """Return what is charged for counting about `protected`: no data is needed.

    `epsilon` is what an account under the relation of the data is charged. Where units are replaced one comes and one
    goes, two cells, so that each has half of it.
    """
    total = rational("epsilon", epsilon, above=0)
    if protected.neighbours is not Neighbours.ADD_REMOVE:
        total /= 2
    bound = counts_bound(protected.unit, len(items))
    wanted = _CALM * math.sqrt(2) * seen.releases * float(bound.l1) / math.sqrt(cells)
    share = min(total * _LARGEST_SHARE, Fraction(math.ceil(wanted * 1000), 1000))
    each = max(share / seen.releases // _SMALLEST, 1) * _SMALLEST  # no less than what is charged for it
    coins = Coins.for_epsilon(total - each * seen.releases, len(items), seen.views, seen.randomisations)
    output = Laplace.for_epsilon(each, bound)
    plan = PanPlan(protected.name, protected.unit, cells, ids, items, *seen, coins, output)
    if plan.standard_error() > cells:
        raise ArgumentError(
            "so many states seen at this ε leave nothing to be estimated: the standard error would exceed all cells; "
            "save less often, declare fewer intrusions or items, or spend more",
            "SRD-C612",
        )
    return plan
