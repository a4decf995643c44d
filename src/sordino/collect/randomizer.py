"""What every way of answering has in common: a device turns one value into bytes, and those who get them can count.

Values are *codes* here, whole numbers below `domain` (or the number itself, where numbers are asked for): what people
see of them is the survey's affair. What a report holds is its *payload*: bytes of one length for all values.

**Guarantee**, which each must keep: for any two values and any payload the chances of it differ by a factor of e^ε at
most, ε being that of `event()`; the chances are whole multiples of 2⁻⁶⁴ (or products of some), rounded towards privacy.
So it holds in every language that tosses the same coins, by construction and without floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.event import Event
from sordino.collect.estimate import Estimate
from sordino.collect.poison import Poison
from sordino.noise.keystream import BitSource

Codes = NDArray[np.int64]
Payloads = NDArray[np.uint8]
"""One row a report."""
Counts = NDArray[np.int64]


class Randomizer(Protocol):
    """One way to answer. Frozen: all of it is public, and part of the survey's digest."""

    protocol: ClassVar[str]
    """As it is called on the wire, in vectors and in other languages."""

    @property
    def epsilon(self) -> Fraction:
        """What one report loses at most, whoever sees it."""
        ...

    @property
    def size(self) -> int:
        """How many bytes a payload has."""
        ...

    def event(self) -> Event:
        """Return what one report costs under replace-one: local trust."""
        ...

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return what so many shuffled reports cost under replace-one: by the tightest event that has a proof."""
        ...

    def public(self) -> Mapping[str, Any]:
        """Return all that another language needs, as JSON can hold it; words and fractions as texts."""
        ...

    def report(self, value: int, source: BitSource) -> bytes:
        """Return the payload for one value, by the next words of `source`: the same in every language."""
        ...

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many values at once, by words of the house: for simulations and benchmarks."""
        ...

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which payloads a device can have sent."""
        ...

    def count(self, payloads: Payloads) -> Counts:
        """Return what estimates need of well-formed payloads; counts of parts add up to the counts of all."""
        ...

    def estimate(self, counts: Counts, reports: int) -> Estimate:
        """Return unbiased estimates from the counts of so many reports: post-processing, so free."""
        ...

    def poison(self) -> Poison:
        """Return how far one client that lies can move one estimate at most."""
        ...


class FrequencyRandomizer(Randomizer, Protocol):
    """One way to ask which of `domain` values is held; its estimates are how many hold each."""

    @property
    def domain(self) -> int:
        """How many values there are; their codes are 0 … domain − 1."""
        ...

    def variance(self, reports: int, held: float = 0.0) -> float:
        """Return the variance of the estimate of a value that `held` of the senders hold: known before spending."""
        ...

    def mean_squared_error(self) -> float:
        """Return the squared error of one estimate for each report, averaged over all values, for any population.

        So the average over values of the squared errors of n reports is n times it, whatever people hold.
        """
        ...
