"""Membership in a study, from nothing but the study's frequencies.

A study publishes, for many genetic variants, how frequent each is among its participants: a disease's patients, say.
Whoever holds a person's genotype compares it with the study's frequencies and with those of the population. Each
variant says next to nothing, thousands of them say whether the person took part.

**Source**: Homer et al. 2008 (distances); Sankararaman, Obozinski, Jordan, Halperin 2009 (the likelihood ratio, which
no other test beats where variants are independent and the answers exact); Dwork, Smith, Steinke, Ullman, Vadhan 2015
(an inner product, which works on distorted answers and without knowing how they were distorted).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.curve import Floats
from sordino.accounting.tradeoff import TradeOff
from sordino.arguments import array, numbers, one_of, rational, whole
from sordino.errors import ArgumentError

from .drawing import Figure
from .roc import Roc, draw_rocs

METHODS = ("likelihood ratio", "distance", "inner product")
_FLOOR = 1e-3
"""No frequency is taken to be nearer to 0 or 1: one misread letter must not decide everything."""


@dataclass(frozen=True)
class Membership:
    """A score for each person, higher for those who seem to have taken part; `members` says who did, if known."""

    method: str
    variants: int
    scores: Floats
    members: NDArray[np.bool_] | None = None

    @property
    def roc(self) -> Roc:
        """The attack's success at every rate of false alarms; needs `members`."""
        if self.members is None or self.members.all() or not self.members.any():
            raise ArgumentError("to judge the attack pass members=, with people of both kinds", "SRD-V010")
        return Roc(self.scores[self.members], self.scores[~self.members])

    def __str__(self) -> str:
        text = f"{len(self.scores):,} people against {self.variants:,} frequencies by {self.method}"
        if self.members is None:
            return text
        return f"{text}: {self.roc.found_at(0.01):.0%} of the members found at 1 % false alarms"

    def figure(
        self,
        limits: Mapping[str, TradeOff] | None = None,
        others: Mapping[str, Membership] | None = None,
        *,
        name: str = "exact",
    ) -> Figure:
        """Return the ROC on log axes, with `others` beside it and what each of `limits` allows drawn over them."""
        rocs = {name: self.roc, **{label: other.roc for label, other in (others or {}).items()}}
        said = f"{len(self.scores):,} people, {self.variants:,} frequencies, by {self.method}"
        return draw_rocs("Was this person in the study?", said, rocs, limits)


def membership(
    frequencies: Any,
    people: Any,
    reference: Any,
    method: str = "likelihood ratio",
    *,
    members: Any = None,
    copies: int = 2,
    size: int | None = None,
    noise: float = 0.0,
) -> Membership:
    """Return how much each of `people` looks like a participant of the study that published `frequencies`.

    `people` has a row for each person and a column for each variant, with how many of a person's `copies` carry it.
    `reference` are the frequencies in the population. With `size`, the number of participants, the inner product weighs
    each variant by how precise it is, counting the standard deviation `noise` that a private release states.

    >>> study = np.array([[2, 0, 1, 0], [1, 0, 2, 0]])
    >>> found = membership(study.mean(axis=0) / 2, [[2, 0, 1, 0], [0, 1, 0, 2]], [0.4, 0.3, 0.3, 0.4])
    >>> bool(found.scores[0] > found.scores[1])
    True
    """
    at_most = whole("copies", copies, least=1)
    genotypes = numbers("people", people, "iub").astype(float)
    if genotypes.ndim != 2 or not genotypes.size or genotypes.min() < 0 or genotypes.max() > at_most:
        raise ArgumentError(f"people must be a table of whole numbers from 0 to {at_most}, a row each", "SRD-A001")
    study = _rates("frequencies", frequencies, genotypes.shape[1])
    public = _rates("reference", reference, genotypes.shape[1])
    one_of("method", method, METHODS)
    if method == "inner product":
        precision = _weights(public, at_most, size, float(rational("noise", noise, least=0)))
        scores = (genotypes / at_most - public) @ ((study - public) * precision)
    else:
        clipped, public = np.clip(study, _FLOOR, 1 - _FLOOR), np.clip(public, _FLOOR, 1 - _FLOOR)
        score = _ratio if method == "likelihood ratio" else _distance
        scores = score(genotypes / at_most, clipped, public)
    known = None if members is None else array("members", members).astype(bool)
    if known is not None and known.shape != scores.shape:
        raise ArgumentError("members must have one boolean for each person", "SRD-A001")
    return Membership(method, genotypes.shape[1], scores, known)


def _ratio(people: Floats, study: Floats, public: Floats) -> Floats:
    """Return ln P[genotype | frequencies of the study] − ln P[genotype | those of the population], for each copy."""
    carried, other = np.log(study / public), np.log((1 - study) / (1 - public))
    return np.asarray(people @ (carried - other) + other.sum())


def _distance(people: Floats, study: Floats, public: Floats) -> Floats:
    """Return Σ |y − population| − |y − study|."""
    return np.asarray(np.abs(people - public).sum(axis=1) - np.abs(people - study).sum(axis=1))


def _weights(public: Floats, copies: int, size: int | None, noise: float) -> Floats:
    if size is None:
        return np.ones_like(public)
    settled = np.clip(public, _FLOOR, 1 - _FLOOR)
    return 1 / (settled * (1 - settled) / (copies * whole("size", size, least=1)) + noise**2)


def _rates(name: str, value: Any, variants: int) -> Floats:
    found = numbers(name, value).astype(float)
    if found.shape != (variants,) or not np.isfinite(found).all():
        raise ArgumentError(f"{name} must be {variants} finite numbers, one for each variant", "SRD-A001")
    return found
