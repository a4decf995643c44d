"""A federated training as a plan: all that is public about it, and one round of it, which a budget is charged for.

**Guarantee**: a round releases the sum, over the units that take part, of vectors clipped to `clip` and rounded to
whole steps, plus noise (``steps.py``, ``noise_shares.py``). One unit moves the sum by at most `bound`, under coming and
going; where everybody keeps a place, being emptied moves it by as much, as who hands in nothing adds nothing.

**Sampling.** In each round a unit takes part with probability `rate`, by a coin of its own. That makes the round
cheaper where whoever is to be kept in the dark does not see the coin: patients are drawn by their hospital, which shows
only a sum; clients by a server that is trusted with their updates. Under masks the server sees which clients take part,
so clients are not sampled there.

**A clip that follows the norms** (`adaptive`): sums are in units of the round's clip, and the noisy count of clients
within it comes with the sum, as one Gaussian (``run/adaptive.py`` has the proof). The clip of a round follows from
counts that were released before.

**No sum wraps around.** A member's numbers are stopped at ±`cap` (which moves no two sums further apart); with the
noise of all members (`reach`) sums stay within half of 2^bits, but for a probability of 2⁻¹⁰⁰ in a round. If they did
not, what comes out were a function of the sum: wrong, and as private.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.events import Gaussian, PoissonSampled, Repeated
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError
from sordino.learn.run.adaptive import REACH, Adaptive
from sordino.learn.run.sampling import most_drawn
from sordino.mechanisms.adaptive_clipping import AdaptiveClipping

from .noise_shares import SHARES, NoiseLaw, ServerNoise, reach
from .populations import CLIENT
from .roster import Quorum, Roster, Terms
from .steps import ClippedSteps


@dataclass(frozen=True)
class Recipe:
    """All that is public about a federated training."""

    dataset: str
    unit: Unit
    neighbours: Neighbours
    members: int
    size: int
    rate: Fraction
    """With which probability a unit takes part in a round."""
    rounds: int
    parameters: int
    clip: Fraction
    multiplier: Fraction
    """The standard deviation of the noise that is counted on, in units of the clip."""
    noise: str
    """Who draws it: the name of a law of shares, or "server"."""
    quorum: Quorum | None
    """How many must survive a masked sum; None where the server is trusted with every member's vector."""
    clips: tuple[tuple[str, Fraction], ...] = ()
    """For classes of units that are promised less: to what part of the clip theirs is cut."""
    adaptive: Adaptive | None = None
    """How the clip follows the norms, from `clip` on; None where it stays."""

    @cached_property
    def steps(self) -> ClippedSteps:
        """A unit's vector, clipped, in steps; in units of the clip, where that adapts."""
        return ClippedSteps.fitting(self.parameters, self.clip if self.adaptive is None else Fraction(1))

    def steps_of(self, name: str | None) -> ClippedSteps:
        """Return the same for a class of units; who is of no class that is known is as careful as the most careful."""
        if not self.clips:
            return self.steps
        part = dict(self.clips).get(name or "", min(part for _, part in self.clips))
        return replace(self.steps, clip=self.clip * part)

    @cached_property
    def law(self) -> NoiseLaw:
        """The noise."""
        if self.adaptive is not None:
            rest = self.adaptive.rest(self.multiplier, self._counted, self.bound.neighbours)
            return ServerNoise(1, self.steps.squared / rest)
        variance = self.multiplier**2 * self.steps.squared
        if self.quorum is None:
            return ServerNoise(1, variance)
        return SHARES[self.noise](self.quorum.honest, variance)

    @property
    def bound(self) -> Bound:
        """What one unit can move the sum of a round by."""
        staying = self.neighbours is Neighbours.ZERO_OUT and not self.sampled
        relation = Neighbours.ZERO_OUT if staying else Neighbours.ADD_REMOVE
        clip = self.clip if self.adaptive is None else Fraction(1)
        return Bound.vector(l0=self.parameters, l2=clip, unit=self.unit, neighbours=relation)

    @property
    def sampled(self) -> bool:
        """Whether chance hides who takes part."""
        return self.rate < 1

    @property
    def batch(self) -> Fraction:
        """How many units take part on average: what sums are divided by."""
        return self.rate * self.size

    @cached_property
    def step(self) -> Event:
        """What one round runs: the noise of its sum, or of sum and count together."""
        event = self.law.event(self.steps) if self.adaptive is None else Gaussian(self.multiplier**2)
        return PoissonSampled(event, self.rate) if self.sampled else event

    @cached_property
    def cap(self) -> int:
        """At how many steps a member's numbers are stopped."""
        units = 1 if self.unit == CLIENT else most_drawn(self.rate, self.size)
        return units * self.steps.most

    @cached_property
    def bits(self) -> int:
        """The bits of a masked number: the fewest in which no sum wraps around."""
        largest = self.members * self.cap + reach(self.law, self.members, self.parameters)
        for bits in (32, 64):
            if largest < 2 ** (bits - 1):
                return bits
        raise ArgumentError("sums would not fit 64 bits: fewer members, or a smaller size", "SRD-A002")

    @property
    def _counted(self) -> int:
        """Among how many units the share within the clip is taken."""
        return max(1, round(self.batch))

    def radius(self, clip: Fraction | None) -> AdaptiveClipping | None:
        """Return the clip that follows the norms where it is by now, where it begins if None; None where it stays."""
        if self.adaptive is None:
            return None
        begun = self.adaptive.begun(self.clip, self.multiplier, self._counted)
        if clip is None:
            return begun
        most, least = begun.radius * REACH, begun.radius / REACH
        return replace(begun, radius=max(least, min(most, float(clip))))

    def round(self, number: int, clip: Fraction | None = None) -> RoundPlan:
        """Return the plan of a round, from 0; `clip` is where a clip that adapts is by then."""
        return RoundPlan(self, number, clip)

    def event(self) -> Event:
        """Return what all rounds run."""
        return Repeated(self.step, self.rounds)

    def with_multiplier(self, multiplier: Fraction) -> Recipe:
        """Return the same training with other noise."""
        return replace(self, multiplier=multiplier)


@dataclass(frozen=True)
class RoundPlan:
    """One round of a federated training: it keeps the Plan protocol."""

    recipe: Recipe
    number: int
    clip: Fraction | None = None
    """The clip of this round, where it adapts: a function of counts that were released."""

    kind: ClassVar[str] = "federation"
    days: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[int] = 0
    large: ClassVar[bool] = False

    @property
    def bound(self) -> Bound:
        """What one unit can move the sum by."""
        return self.recipe.bound

    def event(self) -> Event:
        """Return what the round runs."""
        return self.recipe.step

    def digest(self) -> str:
        """Return the digest of the recipe and of which round it is."""
        return digest_of((self.kind, self))

    def grant_of_count(self, radius: AdaptiveClipping) -> Grant:
        """Return a grant for the count within the clip: paid for in the same event as the sum."""
        bound = AdaptiveClipping.bound(self.bound.neighbours, self.recipe.unit)
        return Grant(radius.event(bound), bound)

    def terms(self, roster: Roster, session: bytes) -> Terms:
        """Return the terms of its masked sum, under which members meet only those who agreed to this very plan."""
        return Terms(roster, session, self.recipe.parameters, self.recipe.bits, self.digest())


@dataclass(frozen=True)
class Summed:
    """What a round releases, as the ledger keeps it: which round of which recipe, and the digest of the weights."""

    plan: RoundPlan
    weights: str
    receipt: Any = None
    files: ClassVar[Mapping[str, bytes]] = {}

    def to_json(self) -> str:
        """Return the manifest."""
        recipe = self.plan.recipe
        manifest = {
            "recipe": digest_of(recipe),
            "round": self.plan.number,
            "members": recipe.members,
            "honest members": None if recipe.quorum is None else recipe.quorum.honest,
            "noise": recipe.noise,
            "noise multiplier": float(recipe.multiplier),
            "parameters": recipe.parameters,
            "clip": str(recipe.clip if self.plan.clip is None else float(self.plan.clip)),
            "rate": str(recipe.rate),
            "weights": self.weights,
        }
        return json.dumps(manifest, separators=(",", ":"))

    def with_receipt(self, receipt: Any) -> Summed:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)
