"""The share of each unit's examples that a model gets right: what a score is the mean of. Secret.

**Guarantee**: one unit more or less changes nobody else's share, so it moves the two sums of a score by 1 in all.
**Proof.** All passes have one shape. Units sit in seats drawn by chance from a public number of them, and as many
passes more as all need where there are more units than were declared; so whoever leaves can be supposed to leave an
empty seat, and the others' outputs are the same to the last bit, which a choice between two classes may hang on.
An example that the model does not take (a number beyond those that it knows) is one that it gets wrong.
**Assumes**: an example's output is a function of that example and the model, as the rehearsal of its training tried.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sordino.learn.gradients.batching import NOBODY, seated_by_owner, taken
from sordino.learn.gradients.made_up import Field
from sordino.learn.gradients.place import Batch
from sordino.learn.gradients.trying import tried
from sordino.learn.run.examples import Examples, People

from .chance import own_chance
from .task import tensors_of
from .unit_sums import seats_for

_ROWS = 256
"""How many examples go through the model at once."""

_PER_OWNER = 8

Fields = tuple[tuple[Field, ...], Field]


class Judge:
    """A model, and what its inputs and labels hold; it was tried on made-up examples."""

    def __init__(self, model: nn.Module, fields: Fields) -> None:
        self._model = model
        self._inputs, self._targets = fields
        made_up = [field.made_up(2) for field in (*self._inputs, self._targets)]
        with torch.no_grad(), own_chance():
            tried(lambda: self._right(made_up[:-1], made_up[-1]), self._inputs, self._targets)

    def shares(self, examples: Examples) -> NDArray[np.float64]:
        """Return for each unit the share of its examples that the model gets right."""
        people = examples.people()
        rows = _PER_OWNER if examples.by_owner else 1
        batch = Batch(_ROWS // rows, rows)
        found = np.zeros(len(people))
        seats = seats_for(examples.size, len(people))
        with torch.no_grad(), own_chance():
            for number in np.unique(seats // batch.units):
                here = np.flatnonzero(seats // batch.units == number)
                found[here] = self._shares(people, here, seats[here] % batch.units, batch)
        return found

    def _shares(
        self, people: People, units: NDArray[np.intp], seats: NDArray[np.int64], batch: Batch
    ) -> NDArray[np.float64]:
        """Return the shares of those whose seats are in one pass; whoever has many examples takes more, alone."""
        parts, owners = people.take(units)
        *inputs, targets = tensors_of(parts, (*self._inputs, self._targets))
        fields = zip((*self._inputs, self._targets), (*inputs, targets), strict=True)
        outside = torch.stack([field.outside(each) for field, each in fields]).any(0)
        right = torch.zeros(len(targets), dtype=torch.float64)
        for seating in seated_by_owner(torch.from_numpy(owners), batch, torch.from_numpy(seats)):
            for places in seating.places:
                flat = places.flatten()
                flat = torch.where(outside[flat.clamp(min=0)], NOBODY, flat) if len(outside) else flat
                judged = self._right([taken(each, flat) for each in inputs], taken(targets, flat))
                right[flat[flat != NOBODY]] = judged[flat != NOBODY]
        sizes = np.bincount(owners, minlength=len(units))
        return np.asarray(np.bincount(owners, right.numpy(), len(units)) / np.maximum(sizes, 1))

    def _right(self, inputs: list[Tensor], targets: Tensor) -> Tensor:
        """Return for each example the share of its labels that have the largest output: 0 or 1, where it has one."""
        chosen: Tensor = self._model(*inputs).argmax(1)
        if chosen.shape != targets.shape:
            raise ValueError("labels are not shaped as the outputs are")
        return chosen.eq(targets).double().flatten(1).mean(1) if targets.dim() > 1 else chosen.eq(targets).double()
