"""The sums of a training's steps: who is drawn, and what their clipped gradients add up to. All of it is data.

The only place of a training that touches data; what it returns is secret until noise was added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import torch
from torch import Tensor, nn

from sordino.arguments import Number, one_of, rational
from sordino.keywords import word
from sordino.learn.gradients.clipped import ClippedGradients
from sordino.learn.gradients.clipping import AUTOMATIC, FLAT, LAYER
from sordino.learn.run.adaptive import Adaptive, adaptive
from sordino.learn.run.examples import Examples, People
from sordino.learn.run.sampling import Draws, Sampler, Units, likely_drawn, most_drawn
from sordino.noise import permutation

from .chance import own_chance
from .task import InClips, Loss, fields_of, per_example, tensors_of
from .views import Augment, Views

ADAPTIVE = "adaptive"


@dataclass(frozen=True)
class Clip:
    """How a unit's gradient is clipped: to `radius`, in the manner of `kind`; or from there on adaptively."""

    radius: Fraction
    kind: str = FLAT
    adaptive: Adaptive | None = None

    @classmethod
    def of(cls, radius: Number, kind: str | Adaptive) -> Clip:
        """Return the clip of a radius, read exactly."""
        exact = rational("clip", radius, above=0)
        if isinstance(kind, Adaptive):
            return cls(exact, adaptive=kind)
        named = one_of("clipping", kind, (FLAT, LAYER, AUTOMATIC, ADAPTIVE))
        return cls(exact, adaptive=adaptive()) if named == ADAPTIVE else cls(exact, named)

    @property
    def counted(self) -> Fraction:
        """The norm to which gradients are clipped as they are computed: 1 where they are in units of the clip."""
        return self.radius if self.adaptive is None else Fraction(1)


@dataclass(frozen=True, kw_only=True)
class Passes:
    """How gradients are computed. These are words of a training, too: see ``words.py``."""

    micro_batch: int | None = field(
        default=None,
        metadata=word("how many units are computed at once; if left out, as many as suits memory and speed."),
    )
    per_owner: int = field(
        default=8, metadata=word("how many examples of one owner are computed at once, where a unit is an owner.")
    )
    augment: Augment | None = field(
        default=None, metadata=word("from one example's inputs to another view of them, such as a shifted image.")
    )
    views: int = field(default=1, metadata=word("how many such views of each example are averaged before clipping."))
    bfloat16: bool = field(
        default=False,
        metadata=word(
            "whether the model runs in bfloat16 where torch thinks that it can; norms and sums are in float32."
        ),
    )


@dataclass(frozen=True, eq=False, repr=False)
class Total:
    """The flat sum of a step, parameter by parameter, and the norm of each unit before it was clipped. Secret."""

    sum: Tensor
    norms: Tensor


class UnitSums:
    """Sums of clipped gradients of freshly drawn units, step by step."""

    def __init__(
        self, model: nn.Module, loss: Loss, examples: Examples, sampler: Sampler, clip: Clip, passes: Passes
    ) -> None:
        self._examples = examples
        self._sampler = sampler
        self._fields = fields_of(examples, model)
        self._in_clips = None if clip.adaptive is None else InClips(per_example(loss))
        likely = likely_drawn(sampler)
        self._views = Views.of(passes.views, passes.augment, self._fields[0])
        self.gradients = ClippedGradients(
            model,
            self._in_clips or per_example(loss),
            inputs=self._fields[0],
            targets=self._fields[1],
            clip=float(clip.counted),
            clipping=clip.kind,
            micro_batch=None if passes.micro_batch is None else min(passes.micro_batch, likely),
            likely=likely,
            per_owner=passes.per_owner if examples.by_owner else 1,
            views=self._views.count,
            bfloat16=passes.bfloat16,
        )
        self.most = most_drawn(sampler.rate, examples.size)
        """How many units a step has at most, but for a chance below 2⁻¹⁰⁰."""
        self.seats = None if self.gradients.movable else self.most
        self._people: People | None = None
        self._draws: Draws | None = None

    def allowance(self) -> float:
        """Return how much further than the clip one unit may move a sum, by the rounding of floats."""
        return self.gradients.allowance(self.most, seats=self.seats, owners=self._examples.by_owner)

    def meet(self, people: People) -> None:
        """Take the units of these people alone, from now on, instead of all there are."""
        self._people, self._draws = people, None

    def measure_in(self, clip: float) -> None:
        """Take sums, from now on, in units of a clip that adapts."""
        if self._in_clips is not None:
            self._in_clips.clip = clip

    def sum(self, within: int) -> Total:
        """Return what comes of the step with this number within its tranche. Secret."""
        if self._people is None:
            self._people = self._examples.people()
        if within == 0 or self._draws is None:
            self._draws = self._sampler.draws(len(self._people))
        units = self._draws(within)
        seats = None
        if self.seats is not None:  # where numbers depend on the seat, whoever leaves must leave an empty one
            seats = torch.from_numpy(seats_for(self.seats, len(units)))
        parts, owners = self._people.take(units)
        *inputs, targets = tensors_of(parts, (*self._fields[0], self._fields[1]))
        owner = torch.from_numpy(owners) if self._examples.by_owner else None
        with own_chance():
            sums = self.gradients.sum(self._views.shown(tuple(inputs)), targets, owner, seats)
        return Total(sums.flat(), sums.norms)


def seats_for(seats: int, units: int) -> Units:
    """Return a seat for each of so many units, by chance.

    Where there are more units than were declared, there are as many more seats as all of them need: were some left
    out, whoever leaves would let another one in, and move the sum by twice the clip.
    """
    return permutation(seats * max(1, math.ceil(units / seats)))[:units]
