"""Whether numbers depend on the class they belong to: two tests that a drifting machine cannot fool.

*Ranks* see that one class tends to larger numbers; *bins* also see that it is only more spread out, or has a second
hump. Where numbers were taken in rounds, each class once a round in an order drawn afresh, labels are exchangeable
within each round whatever happens from round to round, and both tests are stratified by it; ranks are then those of
the numbers less their round's median, so that drift does not even blur them. For each test there is a p-value from the
law for many numbers, and one by drawing the labels anew.

**Source**: Kruskal, Wallis 1952 and Pearson 1900 without rounds; Hodges, Lehmann 1962 (aligned ranks) and the general
association of Cochran, Mantel, Haenszel (Landis, Heyman, Koch 1978) with them. All four are one quadratic form of the
classes' totals of features, whose covariance under redrawing is known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.curve import Floats
from sordino.arguments import numbers, whole
from sordino.audit.dice import dice
from sordino.errors import ArgumentError

Classes = NDArray[np.int64]

_EDGES = (
    (0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 0.99),
    (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    (0.25, 0.5, 0.75),
    (0.5,),
)
"""Where ranks are cut into bins: as fine as the number of values allows, and finest in the tails, where leaks hide."""
_LEAST_EXPECTED = 5.0
"""χ²'s law for many numbers is good from here on, by an old rule."""
_CERTAIN = 1e-6
_NOTHING = 1e-10  # singular values below this, relative to the largest, are rounding


@dataclass(frozen=True)
class Dependence:
    """The verdict: p-values (both tests paid for), how many bits a number tells of its class, how well it separates.

    `separation` is the largest chance, over pairs of classes, that a number of one exceeds one of the other: ½ is
    nothing, 1 is everything.
    """

    p_value: float
    redrawn_p_value: float
    bits: float
    separation: float

    @property
    def certain(self) -> bool:
        """Whether the law says less than one in a million, and no redrawing of the labels comes near."""
        return self.p_value < _CERTAIN and self.redrawn_p_value < 0.01

    def __str__(self) -> str:
        return f"p = {self.p_value:.2g}, {self.bits:.3f} bits, separation {self.separation:.3f}"


def dependence(
    classes: Any, values: Any, *, rounds: bool = False, redraws: int = 499, seed: int | None = None
) -> Dependence:
    """Return whether `values` depend on `classes`, judged by ranks and by bins.

    With `rounds` both are tables with a row for each round, in which each class stands once.

    **Guarantee**: if classes were given out at random (within each round, with `rounds`), `redrawn_p_value` is at most
    x with a chance of at most x, for any law of the values.

    >>> dependence([0, 1] * 500, list(range(1000)), seed=1).certain
    False
    >>> dependence([0] * 500 + [1] * 500, list(range(1000)), seed=1).certain
    True
    """
    labels, taken = _checked(classes, values, rounds)
    aligned = taken - np.median(taken, axis=1, keepdims=True) if rounds else taken
    ranks = _ranks(taken)
    bins = _bins(ranks, labels)
    tests = [_Form(_ranks(aligned)[..., None], labels), _Form(np.eye(int(bins.max()) + 1)[bins], labels)]
    source = dice(seed)
    again = [
        [test.of(fresh) for test in tests]
        for fresh in (source.permuted(labels, axis=1) for _ in range(whole("redraws", redraws, least=99)))
    ]
    seen = [test.of(labels) for test in tests]
    redrawn = (1 + np.sum(np.array(again) >= np.array(seen) * (1 - 1e-9), axis=0)) / (1 + len(again))
    return Dependence(
        min(1.0, 2 * min(test.p_value(found) for test, found in zip(tests, seen, strict=True))),
        min(1.0, 2 * float(redrawn.min())),
        _information(labels.ravel(), bins.ravel()),
        _separation(labels.ravel(), ranks.ravel()),
    )


class _Form:
    """The quadratic form of one kind of feature: how far the classes' totals are from what redrawing expects.

    Within a row of N numbers with features x, of which class j has n_j, redrawing gives its total the mean n_j·x̄ and
    totals j, l the covariance (n_j δ_jl − n_j n_l/N)·S/(N − 1) with S = Σ(x − x̄)(x − x̄)ᵀ. As every row has the same n,
    S adds up over rows, and Σ_j d_jᵀ W⁻ d_j/n_j with W = ΣS/(N − 1) has χ²'s law for many numbers.
    """

    def __init__(self, features: Floats, labels: Classes) -> None:
        centred = features - features.mean(axis=1, keepdims=True)
        self.flat = centred.reshape(-1, features.shape[-1])
        self.sizes = np.bincount(labels[0])
        values, vectors = np.linalg.eigh(self.flat.T @ self.flat / (labels.shape[1] - 1))
        held = values > max(_NOTHING * values.max(), 1e-12)
        self.freedom = int(held.sum()) * (len(self.sizes) - 1)
        self.whitened = self.flat @ (vectors[:, held] / np.sqrt(values[held]))

    def of(self, labels: Classes) -> float:
        """Return the form for these labels."""
        flat, kinds = labels.ravel(), len(self.sizes)
        totals = np.array([np.bincount(flat, column, minlength=kinds) for column in self.whitened.T])
        return float(np.sum(totals**2 / self.sizes)) if totals.size else 0.0

    def p_value(self, found: float) -> float:
        """Return the chance of this or more, by the law for many numbers."""
        from scipy.special import gammaincc

        return float(gammaincc(self.freedom / 2, found / 2)) if self.freedom else 1.0


def _checked(classes: Any, values: Any, rounds: bool) -> tuple[Classes, Floats]:
    """Return both as tables, one row for each round; classes are numbered from 0."""
    labels, taken = numbers("classes", classes, "iu"), numbers("values", values).astype(float)
    if labels.shape != taken.shape or labels.ndim != (2 if rounds else 1) or len(np.unique(labels)) < 2:
        raise ArgumentError("classes and values must have one shape, with two classes at least", "SRD-A001")
    if not np.isfinite(taken).all():
        raise ArgumentError("values must be finite", "SRD-A002")
    numbered = np.unique(labels, return_inverse=True)[1].reshape(labels.shape).astype(np.int64)
    if rounds and not np.array_equal(
        np.sort(numbered, axis=1), np.tile(np.arange(numbered.max() + 1), (len(taken), 1))
    ):
        raise ArgumentError("each round must hold each class exactly once", "SRD-A001")
    return (numbered, taken) if rounds else (numbered[None], taken[None])


def _ranks(values: Floats) -> Floats:
    """Return ranks from 0 to 1; equal values share the mean of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return ((last - (count - 1) / 2)[place] / values.size).reshape(values.shape)


def _bins(ranks: Floats, labels: Classes) -> Classes:
    """Return in which bin each rank lies; equal values lie in one. The choice of bins depends on no label's place."""
    rarest = np.bincount(labels.ravel()).min() / labels.size
    for edges in _EDGES:
        bins = np.unique(np.searchsorted(edges, ranks, side="left"), return_inverse=True)[1].reshape(ranks.shape)
        if np.bincount(bins.ravel()).min() * rarest >= _LEAST_EXPECTED:
            return bins
    return np.zeros_like(labels)


def _information(groups: Classes, bins: Classes) -> float:
    """Return the mutual information in bits, less what chance alone would show (Miller, Madow 1955)."""
    rows, columns = int(groups.max()) + 1, int(bins.max()) + 1
    shares = np.bincount(groups * columns + bins, minlength=rows * columns).reshape(rows, columns) / len(groups)
    apart = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    held = shares > 0
    raw = float(np.sum(shares[held] * np.log2(shares[held] / apart[held])))
    by_chance = (rows - 1) * (columns - 1) / (2 * len(groups) * np.log(2))
    return float(max(0.0, raw - by_chance))


def _separation(groups: Classes, ranks: Floats) -> float:
    """Return the largest chance that a number of one class exceeds one of another; ties count half."""
    parts = [np.sort(ranks[groups == number]) for number in range(int(groups.max()) + 1)]
    best = 0.5
    for place, one in enumerate(parts):
        for other in parts[place + 1 :]:
            below = np.searchsorted(other, one, side="left") + np.searchsorted(other, one, side="right")
            chance = float(below.mean()) / (2 * len(other))
            best = max(best, chance, 1 - chance)
    return best
