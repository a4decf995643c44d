"""A training as a plan: all that is public about it, so that it can be priced before data is touched.

A `Recipe` is the whole training; a `TrainingPlan` is one *tranche* of its steps, and what a budget is charged for.

**Guarantee**: one step releases the sum of the units' clipped gradients plus Gaussian noise, on a grid that is fixed
beforehand. One unit moves that sum by at most `bound`: the clip, and what rounding floats can add to it (`allowance`).
Where noise is correlated, what it is added to is in ``correlation.py``; where the clip adapts, a noisy count comes with
the sum (``adaptive.py``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.events import Gaussian as GaussianEvent
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.mechanisms.adaptive_clipping import AdaptiveClipping
from sordino.mechanisms.gaussian import Gaussian

from .adaptive import Adaptive
from .correlation import Correlation, Independent
from .paying import Payment
from .sampling import Sampler


@dataclass(frozen=True)
class Recipe:
    """All that is public about a training."""

    dataset: str
    unit: Unit
    sampler: Sampler
    steps: int
    """Of the whole training."""
    payment: Payment
    """How steps are charged."""
    parameters: int
    """How many numbers are trained."""
    clip: Fraction
    allowance: Fraction
    """By which part more than the clip a unit can move the sum, as floats are rounded."""
    multiplier: Fraction
    """The standard deviation of the noise, in units of how far one unit can move what it is added to."""
    model: str
    """The digest of what the model is: its parts and their sizes."""
    words: Mapping[str, Any] = field(default_factory=dict)
    """What else the user said, such as the kind of clipping."""
    correlation: Correlation = field(default_factory=Independent)
    """How the noise of steps hangs together."""
    adaptive: Adaptive | None = None
    """How the clip follows the norms; None where it stays."""

    @cached_property
    def bound(self) -> Bound:
        """What one unit can move the sum of a step by, under the sampler's relation; in clips, where clips adapt."""
        clip = self.clip if self.adaptive is None else Fraction(1)
        moved = Bound.vector(l0=self.parameters, l2=clip * (1 + self.allowance), unit=self.unit)
        return moved.replacing() if self.sampler.neighbours is Neighbours.REPLACE_ONE else moved

    @cached_property
    def mechanism(self) -> Gaussian:
        """What adds the noise."""
        return Gaussian.for_rho(self._inverse_ratio / 2, self.bound, None)

    @cached_property
    def radius(self) -> AdaptiveClipping | None:
        """The clip at its beginning, where it adapts."""
        return None if self.adaptive is None else self.adaptive.begun(self.clip, self.multiplier, self.sampler.batch)

    @cached_property
    def step(self) -> GaussianEvent:
        """What one step runs, if everybody took part: the noise of its sum, or of sum and count together."""
        return self.mechanism.event(self.bound) if self.adaptive is None else GaussianEvent(self.multiplier**2)

    @property
    def _inverse_ratio(self) -> Fraction:
        """What a unit can move a sum by against the deviation of the sum's noise, squared."""
        if self.adaptive is not None:
            return self.adaptive.rest(self.multiplier, self.sampler.batch, self.sampler.neighbours)
        return 1 / (self.multiplier**2 * self.correlation.gain(self.sampler))

    def event(self, steps: int) -> Event:
        """Return what so many steps run, from the beginning of a reservation."""
        return self.correlation.event(self.sampler, self.step, steps)

    def tranches(self) -> list[TrainingPlan]:
        """Return the plans of all tranches, in order."""
        found: list[TrainingPlan] = []
        while (first := sum(each.steps for each in found)) < self.steps:
            found.append(self.tranche_from(first))
        return found

    def tranche_from(self, first: int) -> TrainingPlan:
        """Return the plan of the tranche whose first step is `first` (from 0)."""
        return TrainingPlan(self, first, self.payment.length(self.steps - first))

    def whole(self) -> TrainingPlan:
        """Return the plan of all steps at once."""
        return TrainingPlan(self, 0, self.steps)

    @cached_property
    def identity(self) -> str:
        """The digest of all that decides what is computed: a checkpoint is good for it, however it is paid."""
        return digest_of({each.name: getattr(self, each.name) for each in fields(self) if each.name != "payment"})

    def with_multiplier(self, multiplier: Fraction) -> Recipe:
        """Return the same training with other noise."""
        return replace(self, multiplier=multiplier)


@dataclass(frozen=True)
class TrainingPlan:
    """Some steps of a training, charged together: it keeps the Plan protocol."""

    recipe: Recipe
    first: int
    steps: int

    kind: ClassVar[str] = "training"
    days: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[int] = 0
    large: ClassVar[bool] = False

    @property
    def bound(self) -> Bound:
        """What one unit can move the sum of a step by."""
        return self.recipe.bound

    def event(self) -> Event:
        """Return what the steps run, as it is charged."""
        return self.recipe.payment.charged(self.recipe.event(self.steps))

    def digest(self) -> str:
        """Return the digest of the recipe and of which steps these are."""
        return digest_of((self.kind, self))

    def grant_of_step(self) -> Grant:
        """Return a grant for the sum of one step; whoever calls has used the grant of the tranche."""
        return Grant(self.recipe.mechanism.event(self.recipe.bound), self.recipe.bound)

    def grant_of_count(self, radius: AdaptiveClipping) -> Grant:
        """Return a grant for the count of one step, where the clip adapts: paid for in the same event as the sum."""
        bound = AdaptiveClipping.bound(self.recipe.bound.neighbours, self.recipe.unit)
        return Grant(radius.event(bound), bound)


@dataclass(frozen=True)
class Trained:
    """What a tranche releases, as the ledger keeps it: which steps of which recipe, and the digest of the weights.

    The weights themselves go to whoever trains; they are all that the noisy sums were used for.
    """

    plan: TrainingPlan
    steps: int
    """How many steps of the tranche were run."""
    weights: str
    receipt: Any = None
    files: ClassVar[Mapping[str, bytes]] = {}

    def to_json(self) -> str:
        """Return the manifest."""
        recipe = self.plan.recipe
        manifest = {
            "recipe": digest_of(recipe),
            "model": recipe.model,
            "parameters": recipe.parameters,
            "batch": recipe.sampler.batch,
            "clip": str(recipe.clip),
            "noise multiplier": float(recipe.multiplier),
            "coefficients": recipe.correlation.column,
            "paid": recipe.payment.name,
            "first step": self.plan.first,
            "steps charged": self.plan.steps,
            "steps run": self.steps,
            "weights": self.weights,
        }
        return json.dumps(manifest, separators=(",", ":"))

    def with_receipt(self, receipt: Any) -> Trained:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)
