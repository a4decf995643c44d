"""The sum over units of clipped gradients: what one step of private training takes from the data.

**Guarantee**: let S be what `ClippedGradients.sum` returns, and S′ the same without one unit. Then ‖S − S′‖₂ is at most
`bound(units)`, the clip plus an allowance for rounding, whatever the data: NaN, infinities, denormals, cancellation.
**Proof.** Every pass has one constant shape, so each unit's own numbers are the same bits whoever else is there, in the
same seat, and if `movable` in any seat (tried in `rehearsal`). From them follow its gradient G, exactly what a form
stands for, and a factor f with f‖G‖ ≤ clip, as norms are never under-estimated (`rounding`, `forms`, `clipping`). The
exact sums differ by one fG. Each computed sum is off by at most γ·Σ fᵢ‖Gᵢ‖ ≤ γ·units·clip, where γ counts the roundings
on a number's way into the sum (`forms`), and products that are lost below the smallest normal float add no more than
√parameters times that many of them.
**Assumes**: an example's gradient is a function of that example and of the model's public state; `rehearsal` tries it.
**Source**: Abadi et al. 2016; Bu, Wang, Zha, Karypis 2023 (book-keeping: one backward pass); Higham 2002.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sordino.arguments import whole
from sordino.errors import ArgumentError, RunError

from .batching import NOBODY, Seating, seated, seated_by_owner, taken, weights
from .clipping import FLAT, Clipping
from .forms import Form, Stacked, roundings
from .made_up import Field
from .passing import Examples, Loss, Task
from .place import Batch
from .rehearsal import rehearsed
from .rounding import BLOCK, full_precision, gamma, rounded_down, roundoff


@dataclass(frozen=True)
class Sums:
    """What came of a batch. All of it is data: only noise makes it a release.

    `gradients` holds the clipped sums by parameter, `norms` each unit's norm before clipping (a little above the exact
    one; infinite for a unit that did not count), for a clip that adapts.
    """

    gradients: dict[str, Tensor]
    norms: Tensor
    memory: Tensor | None = None
    """Where all sums follow each other, if they have one type."""

    def flat(self) -> Tensor:
        """Return all sums, one after another."""
        return torch.cat([each.flatten() for each in self.gradients.values()]) if self.memory is None else self.memory

    def within(self, clip: float) -> int:
        """Return how many units have norms of at most `clip`."""
        return int((self.norms <= clip).sum())


class ClippedGradients:
    """Sums of clipped gradients of a model and a loss; see the module for what is guaranteed.

    A unit is an example, or all the examples of one owner, clipped as one. `micro_batch` units go through the model at
    a time, always as many: missing ones are padded and count exactly nothing. Left out, it is chosen by memory and
    speed, so that the `likely` number of units of a sum needs a few full passes (see `sizing`). `views` is how many
    augmented views of each example are given, averaged before clipping; `per_owner` how many examples of one owner
    share a pass (owners with more take several).

    >>> model = nn.Linear(3, 2)
    >>> clipped = ClippedGradients(model, nn.CrossEntropyLoss(reduction="none"),
    ...     inputs=Field((3,)), targets=Field((), "int64", below=2), clip=1.0, micro_batch=4)
    >>> sums = clipped.sum(torch.ones(5, 3), torch.zeros(5, dtype=torch.int64))
    >>> sorted(sums.gradients)
    ['bias', 'weight']
    """

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        *,
        inputs: Field | tuple[Field, ...],
        targets: Field,
        clip: float,
        clipping: str = FLAT,
        stability: float = 0.01,
        micro_batch: int | None = None,
        likely: int = 64,
        views: int = 1,
        per_owner: int = 1,
        bfloat16: bool = False,
    ) -> None:
        self._inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        self._targets = targets
        self._views = whole("views", views, least=1, most=2**16)
        rows = whole("per_owner", per_owner, least=1, most=2**16)
        if rows > 1 and self._views > 1:
            raise ArgumentError("either views of examples or owners of examples, not both", "SRD-T102")
        units = likely if micro_batch is None else micro_batch
        largest = Batch(whole("micro_batch", units, least=1, most=2**20), rows * self._views)
        self._task = Task(model, loss, bfloat16)
        found = rehearsed(self._task, self._inputs, targets, largest, fit=micro_batch is None)
        self._pass, self._batch, self.movable = found.way, found.batch, found.movable
        self._names = list(self._task.trained)
        self._parts = Clipping(clip, clipping, stability).parts(self._names)
        self.clipping = Clipping(clip, clipping, stability)

    movable: bool
    """Whether a unit's numbers are the same bits wherever it sits.

    If not, whoever leaves must leave an empty seat: seats are then drawn at random, without replacement, from a public
    number of them, and `sum` gets them. As a random choice of seats for all but one is what a random choice for all
    leaves to the others, sums with and without a unit can be compared seat by seat.
    Where a unit is replaced, never removed, or the sampler keeps a place for everybody, seats are fixed anyway.
    """

    @property
    def micro_batch(self) -> int:
        """How many units go through the model at a time."""
        return self._batch.units

    @property
    def clip(self) -> float:
        """The most that one unit's gradient counts, as a norm."""
        return self.clipping.clip

    @clip.setter
    def clip(self, clip: float) -> None:
        self.clipping = Clipping(clip, self.clipping.kind, self.clipping.stability)

    def allowance(self, units: int, *, seats: int | None = None, owners: bool = False) -> float:
        """Return how much further than the clip one unit may move a sum over at most so many `units`, by rounding.

        It grows with the passes that are added up: as many as units need in order, or the public number of `seats`;
        with `owners`, each of them may need passes of its own.
        """
        count = whole("units", units, least=0, most=2**40)
        places = count if seats is None else whole("seats", seats, least=count, most=2**40)
        additions = math.ceil(places / self._batch.units) * math.ceil(self._batch.units / BLOCK) + owners * count
        trained = list(self._task.trained.values())
        worst = max(roundoff(value.dtype) for value in trained)
        lost = max(float(torch.finfo(value.dtype).tiny) for value in trained)
        size = sum(value.numel() for value in trained)
        return 2 * (
            gamma(roundings(self._batch.units) + additions, worst) * count * self.clip
            + math.sqrt(size) * 4 * (count + 1) * lost
        )

    def bound(self, units: int, *, seats: int | None = None, owners: bool = False) -> float:
        """Return how far one unit more or less moves a sum over at most so many `units`, in the 2-norm."""
        return math.nextafter(self.clip + self.allowance(units, seats=seats, owners=owners), math.inf)

    def sum(
        self,
        inputs: Tensor | tuple[Tensor, ...],
        targets: Tensor,
        owner: Tensor | None = None,
        seats: Tensor | None = None,
    ) -> Sums:
        """Return the clipped sums over a batch of any size, also of none.

        With views, inputs are (examples, views, …) and targets (examples, …). `owner` holds a whole number for each
        example; all examples with the same one are clipped together. `seats` holds another whole number for each unit
        (owners in the order of their numbers): where it sits. See `movable` for when it must be given, and how.
        """
        try:
            return self._sum(inputs if isinstance(inputs, tuple) else (inputs,), targets, owner, seats)
        except Exception:  # a model's own words may hold data
            raise RunError(
                "a step of the training could not be computed: the model or its loss does something with the data that "
                "it did not do with made-up data of the declared fields; the charge stands",
                "SRD-R011",
            ) from None

    def _sum(self, inputs: tuple[Tensor, ...], targets: Tensor, owner: Tensor | None, seats: Tensor | None) -> Sums:
        memory, totals = _zeros(self._task.trained)
        norms = [torch.zeros(0, dtype=torch.float64)]
        count = len(targets)
        if self._views > 1:
            inputs = tuple(each.flatten(0, 1) for each in inputs)
            targets = targets.repeat_interleave(self._views, 0)
        seatings = seated(count, self._batch, seats) if owner is None else seated_by_owner(owner, self._batch, seats)
        for seating in seatings:
            norms.append(self._add(totals, self._forms(inputs, targets, seating), seating)[seating.taken])
        return Sums(totals, torch.cat(norms), memory)

    def _forms(self, inputs: tuple[Tensor, ...], targets: Tensor, seating: Seating) -> dict[str, Form]:
        """Return the gradients of those who sit here; the caller lets go of them before others take their seats."""
        found = [
            self._pass(self._task, self._examples(inputs, targets, places), seating.batch) for places in seating.places
        ]
        return found[0] if len(found) == 1 else _added(found)

    def _examples(self, inputs: tuple[Tensor, ...], targets: Tensor, places: Tensor) -> Examples:
        """Return the rows at their places; one with a number that its field does not have is nobody's."""
        rows = [taken(each, places) for each in (*inputs, targets)]
        fields = zip((*self._inputs, self._targets), rows, strict=True)
        outside = torch.stack([field.outside(each) for field, each in fields]).any(0)
        if outside.any():
            places = torch.where(outside.view_as(places), NOBODY, places)
            rows = [taken(each, places) for each in (*inputs, targets)]
        return Examples(tuple(rows[:-1]), rows[-1], weights(places, 1 / self._views))

    def _add(self, totals: dict[str, Tensor], forms: dict[str, Form], seating: Seating) -> Tensor:
        """Add a pass's gradients, clipped, to the totals; return the units' norms."""
        with torch.no_grad(), full_precision():
            squares = self._squares(forms, seating.batch.units)
            empty = torch.ones(seating.batch.units, dtype=torch.bool)
            empty[seating.taken] = False
            factors = [factor.masked_fill(empty, 0) for factor in self.clipping.factors(squares)]
            norms = torch.stack(squares).sum(0).sqrt()
            unfit = ~norms.isfinite()
            for name, form in forms.items():
                if unfit.any():
                    form.blank(unfit)
                form.add_to(totals[name], rounded_down(factors[self._parts[name]], totals[name].dtype))
            return torch.where(unfit, math.inf, norms)

    def _squares(self, forms: dict[str, Form], units: int) -> list[Tensor]:
        """Return the squared norms of all parts; a part that no gradient reached has norms of 0."""
        parts = 1 + max(self._parts.values())
        squares = [torch.zeros(units if forms else 0, dtype=torch.float64) for _ in range(parts)]
        for name, form in forms.items():
            squares[self._parts[name]] += form.squared_norms()
        return squares


def _zeros(trained: dict[str, Tensor]) -> tuple[Tensor | None, dict[str, Tensor]]:
    """Return zeros for every parameter, and the memory in which they follow each other if they have one type."""
    if len({value.dtype for value in trained.values()}) > 1:
        return None, {name: torch.zeros(value.shape, dtype=value.dtype) for name, value in trained.items()}
    dtype = next(iter(trained.values())).dtype
    memory = torch.zeros(sum(value.numel() for value in trained.values()), dtype=dtype)
    parts = memory.split([value.numel() for value in trained.values()])
    return memory, {name: part.view(value.shape) for (name, value), part in zip(trained.items(), parts, strict=True)}


def _added(forms: list[dict[str, Form]]) -> dict[str, Form]:
    """Return the sums of several passes over one unit."""
    names = {name: None for each in forms for name in each}
    found: dict[str, Form] = {}
    for name in names:
        first, *others = [each[name].stacked() for each in forms if name in each]
        total = first.clone()
        for other in others:
            total += other
        found[name] = Stacked(total)
    return found
