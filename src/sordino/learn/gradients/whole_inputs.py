"""Which whole numbers a model takes as inputs: found on made-up examples, so that others count nothing.

A table of 1,000 words has no row for word 1,000, and what is looked up there stops the run: by stopping, one example
would tell that it is there. So what a model takes is tried before any data is touched; whoever takes a number is
supposed to take all that lie between it and the smallest one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice, product
from typing import Any

import torch
from torch import Tensor, nn

from .made_up import Field

_FEW = 2
_USUAL = 256
"""What is made up for a model that takes any whole number lies within ± so much."""

_MOST_BEGINNINGS = 64


def with_what_it_takes(model: nn.Module, inputs: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the fields of inputs with the whole numbers that the model takes in each, as far as one was found.

    >>> with_what_it_takes(nn.Embedding(7, 2), (Field((3,), "int64"),))
    (Field(shape=(3,), kind='int64', below=7, least=0, any_whole=False),)
    """
    places = [place for place, field in enumerate(inputs) if field.is_whole]
    if not places:
        return inputs
    found = list(inputs)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        trial = _Trial(copy.deepcopy(model), inputs)  # what counts what it sees must not count this
        begun = _begun(trial, places)
        for place, first in begun.items():  # of none, if the model fails: the rehearsal says how
            found[place] = _ranged(inputs[place], first, partial(trial.takes_at, begun, place))
    return tuple(found)


class _Trial:
    """A model on examples that hold one whole number everywhere in a field, and what is made up in other fields."""

    def __init__(self, model: nn.Module, inputs: tuple[Field, ...]) -> None:
        self._model = model
        self._given = [field.made_up(_FEW) for field in inputs]
        self._shape: Any = None

    def takes_at(self, begun: dict[int, int], place: int, value: int) -> bool:
        """Tell whether the model takes the number in one place, and what it began with elsewhere."""
        return self.takes(begun | {place: value})

    def takes(self, values: dict[int, int]) -> bool:
        """Tell whether the model takes these numbers in their fields, and makes of them what it made of the first."""
        given = [
            torch.full_like(each, values[place]) if place in values else each for place, each in enumerate(self._given)
        ]
        try:
            found = self._model(*given)
        except Exception:  # it has seen nothing but made-up numbers
            return False
        shape = found.shape if isinstance(found, Tensor) else None
        self._shape = shape if self._shape is None else self._shape
        return bool(shape == self._shape)


def _begun(trial: _Trial, places: list[int]) -> dict[int, int]:
    """Return a number for each place, 0 or 1, such that the model takes them together; nothing if none was found."""
    for values in islice(product((0, 1), repeat=len(places)), _MOST_BEGINNINGS):
        numbers = dict(zip(places, values, strict=True))
        if trial.takes(numbers):
            return numbers
    return {}


def _ranged(field: Field, first: int, takes: Callable[[int], bool]) -> Field:
    least, most = field.limits
    above = first + _farthest(lambda far: takes(first + far), most - first)
    under = 0 if first or not least else -_farthest(lambda far: takes(-far), -least)
    if (under, above) == (least, most) and least:
        return replace(field, least=-_USUAL, below=_USUAL, any_whole=True)
    return replace(field, least=first + under, below=above + 1)


def _farthest(takes: Callable[[int], bool], limit: int) -> int:
    """Return the farthest number up to `limit` that is taken, if all nearer ones are."""
    known, step = 0, 1
    while known < limit and takes(min(limit, known + step)):
        known = min(limit, known + step)
        step *= 2
    low, high = known, min(limit, known + step)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if takes(middle) else (low, middle)
    return low
