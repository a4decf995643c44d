"""What is audited: something that draws outputs for an input, and pairs of neighbouring inputs to try it on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError
from sordino.mechanisms.additive import Additive
from sordino.mechanisms.checks.case import Case
from sordino.mechanisms.exponential import Exponential
from sordino.mechanisms.noisy_max import GumbelMax, LaplaceMax, PermuteAndFlip
from sordino.mechanisms.randomized_response import RandomizedResponse
from sordino.mechanisms.sparse_vector import AboveThreshold
from sordino.mechanisms.top_k import TopK

from . import neighbours
from .claim import Claim

Release = Callable[[Any, int], Any]
"""``release(value, n)``: n independent outputs for one input: an array of n or n × d, or a list of anything."""
Pairs = Iterable[tuple[Any, Any]]
Law = Callable[[Any], Mapping[Any, float | Fraction]]

_CHOICES = (Exponential, GumbelMax, LaplaceMax, PermuteAndFlip, TopK)
_ANSWERS = 6
"""How many answers a comparison with a threshold is tried on."""


@dataclass(frozen=True)
class Subject:
    """Something to audit.

    **Assumes**: `release` draws its outputs independently, within one call and from call to call, and the two inputs
    of every pair are neighbours under the claim. Where they are not, whatever is found says nothing.
    `law`, where it is given, is the exact probability of every outcome; then nothing is drawn at all.
    """

    name: str
    release: Release
    pairs: Sequence[tuple[Any, Any]]
    claim: Claim | None = None
    law: Law | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", checked_pairs(self.pairs))
        if self.claim is not None:
            object.__setattr__(self, "claim", Claim.read(self.claim))


def checked_pairs(pairs: Pairs) -> tuple[tuple[Any, Any], ...]:
    """Return neighbouring inputs as a tuple of pairs; refuse none at all, and what is not a pair."""
    found = tuple(tuple(pair) for pair in pairs)
    if not found or any(len(pair) != 2 for pair in found):
        raise ArgumentError(
            "pairs must be neighbouring inputs, two by two, such as [(0, 1)], or come from sordino.audit.neighbours",
            "SRD-V001",
        )
    return found


def each(function: Callable[[Any], Any]) -> Release:
    """Turn ``function(value) -> output`` into a release that is called once for every output.

    >>> each(lambda value: value + 1)(3, 2)
    [4, 4]
    """

    def release(value: Any, draws: int) -> list[Any]:
        return [function(value) for _ in range(draws)]

    return release


def of(mechanism: Any, *, bound: Bound | None = None, pairs: Pairs | None = None, claim: Any = None) -> Subject:
    """Return one of sordino's mechanisms, or a case for the laws, as a subject.

    For numbers, choices and comparisons one row that counts once, and inputs that bring out the worst, are taken unless
    `bound` and `pairs` are given; all other mechanisms need both. The claim is what the best accountant says of the
    mechanism's event, unless another `claim` is given.
    """
    if isinstance(mechanism, Case):
        bound, pairs = mechanism.bound, pairs or ((mechanism.value, mechanism.neighbour),)
        claim = mechanism.claim if claim is None else claim
        mechanism = mechanism.mechanism
    usual = _usual(mechanism) if bound is None else bound
    inputs = checked_pairs(_telling_inputs(mechanism, usual) if pairs is None else pairs)
    event = mechanism.event(usual)
    promised = Claim.of(event) if claim is None else Claim.read(claim)
    return Subject(type(mechanism).__name__, _release(mechanism, event, usual), inputs, promised)


def _usual(mechanism: Any) -> Bound:
    """Return the bound of one row that counts once."""
    if isinstance(mechanism, RandomizedResponse):
        return Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE)
    if isinstance(mechanism, _CHOICES):
        return Bound.vector(l0=mechanism.candidates, linf=1)
    if isinstance(mechanism, AboveThreshold):
        return Bound.vector(l0=_ANSWERS, linf=1)
    if isinstance(mechanism, Additive):
        return Bound.scalar(1)
    raise ArgumentError(
        f"what one unit can change of the input of {type(mechanism).__name__} is not known here; "
        "give bound=… and pairs=[(value, neighbour), …]",
        "SRD-V001",
    )


def _telling_inputs(mechanism: Any, bound: Bound) -> Pairs:
    """Return inputs that differ as much as `bound` allows."""
    step = float(bound.linf) if bound.linf.denominator > 1 else int(bound.linf)
    if isinstance(mechanism, RandomizedResponse):
        return ((1, 0),)
    if isinstance(mechanism, _CHOICES):
        return neighbours.lists(mechanism.candidates, step)
    if isinstance(mechanism, AboveThreshold):
        return neighbours.lists(bound.l0, step, at=math.floor(mechanism.threshold))
    if isinstance(mechanism, Additive):
        moved = min(bound.l0, math.floor(bound.l1 / bound.linf))
        return neighbours.scalars(step) if moved == 1 else ((np.full(moved, step), np.zeros(moved, dtype=int)),)
    raise ArgumentError(
        f"no inputs are known that bring out the worst of {type(mechanism).__name__}; "
        "give pairs=[(value, neighbour), …]",
        "SRD-V001",
    )


def _release(mechanism: Any, event: Event, bound: Bound) -> Release:
    """Return how many outputs of a mechanism are drawn: at once where it treats every number by itself."""
    at_once = isinstance(mechanism, Additive | RandomizedResponse)

    def release(value: Any, draws: int) -> Any:
        if at_once:
            return mechanism.release(np.repeat(np.asarray(value)[None], draws, axis=0), Grant(event, bound))
        return [mechanism.release(value, Grant(event, bound)) for _ in range(draws)]

    return release
