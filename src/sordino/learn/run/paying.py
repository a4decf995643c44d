"""How a training is paid: tranche by tranche as it goes, or whole before it begins.

A payment is frozen and public. It says how many steps the next reservation covers, and what it is charged for.

`InTranches`: so many steps at a time, as what they are. In a filter tranches of independently noised steps cost
together what the whole costs, so whoever stops early just stops reserving.
`Whole`: all steps that are left at once, as `Declared`: the ε that their privacy loss distribution proves, with a δ of
its own. It needs less noise for the same ε, as nothing can be decided along the way. Whoever stops early has paid for
all; steps that are run again after a crash are declared, and charged, again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

from sordino.accounting.budget import Budget
from sordino.accounting.declared import declare
from sordino.accounting.event import Event
from sordino.accounting.events import Declared
from sordino.accounting.units import PER_DELTA
from sordino.arguments import Number, one_of, rational, whole
from sordino.errors import ArgumentError

from .sampling import Sampler

TRANCHES, WHOLE = "tranches", "whole"


class Payment(Protocol):
    """How steps are charged."""

    @property
    def name(self) -> str:
        """How users call it."""
        ...

    def length(self, left: int) -> int:
        """Return how many of the steps that are left the next reservation covers."""
        ...

    def charged(self, event: Event) -> Event:
        """Return what is charged for steps that run `event`."""
        ...


@dataclass(frozen=True)
class InTranches:
    """So many steps at a time, as what they are: in a filter they cost together what the whole costs."""

    steps: int
    name: ClassVar[str] = TRANCHES

    def length(self, left: int) -> int:
        """Return a tranche, or what is left."""
        return min(self.steps, left)

    def charged(self, event: Event) -> Event:
        """Return the event itself."""
        return event


@dataclass(frozen=True)
class Whole:
    """All steps at once, declared beforehand as (ε, `delta`)."""

    delta: Fraction
    name: ClassVar[str] = WHOLE

    def length(self, left: int) -> int:
        """Return all that is left."""
        return left

    def charged(self, event: Event) -> Declared:
        """Return the run as it is declared: with the least ε that is proven."""
        return declare(event, self.delta)


@dataclass(frozen=True)
class Pay:
    """What a user says about paying: how, and how many steps at once."""

    way: str = TRANCHES
    tranche: int | None = None
    delta: Number | None = None

    def payment(self, sampler: Sampler, size: int, account: Budget | None) -> Payment:
        """Return how steps are charged; refuse what this account cannot hold."""
        if one_of("pay", self.way, (TRANCHES, WHOLE)) == TRANCHES:
            return in_tranches(self.tranche, sampler, size)
        if self.tranche is not None:
            raise ArgumentError(
                'tranche is how many steps are charged at once, and pay="whole" charges all; leave one of them out',
                "SRD-A003",
            )
        return Whole(own_delta(account, self.delta))


def own_delta(account: Budget | None, delta: Number | None) -> Fraction:
    """Return the δ that a run is declared with: the one given, or all that the account can hold for such events."""
    most = None if account is None else Fraction(account.own_delta_cap, PER_DELTA)
    if most == 0:
        raise ArgumentError(
            "a run that is paid whole is charged with a δ of its own, and this account holds none; open it with "
            'budget(epsilon=…, delta=…) and an own_delta_share above 0, or pay="tranches"',
            "SRD-A003",
        )
    if delta is None:
        if most is None:
            raise ArgumentError("an account without a cap has no δ to take; say delta=…", "SRD-A003")
        return most
    found = rational("delta", delta, above=0)
    if most is not None and found > most:
        raise ArgumentError(
            f"delta must not exceed {float(most):.3g}, the part of the account's δ that is set aside for events with a "
            "δ of their own; leave it out, or open the account with a larger own_delta_share",
            "SRD-A002",
        )
    return found


def in_tranches(steps: int | None, sampler: Sampler, size: int) -> InTranches:
    """Return tranches of so many steps, an epoch if left out; refuse what cuts through what cannot be cut."""
    if steps is None:
        return InTranches(max(sampler.least, math.ceil(Fraction(size, sampler.batch))))
    count = whole("tranche", steps, least=1)
    if count % sampler.least:
        raise ArgumentError(f"tranche must be a multiple of {sampler.least} steps, which cannot be cut", "SRD-A002")
    return InTranches(count)


def steps_of(steps: int | None, epochs: Number | None, batch: int, size: int) -> int:
    """Return how many steps a training has, by their number or by how often each unit is seen on average."""
    if (steps is None) == (epochs is None):
        raise ArgumentError("say how long to train: epochs=… or steps=…, one of the two", "SRD-A003")
    if steps is not None:
        return whole("steps", steps, least=1)
    return max(1, math.ceil(rational("epochs", epochs, above=0) * size / batch))
