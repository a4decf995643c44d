"""From RAPPOR's counts to words: a regression of each cohort's bits on the filters of candidate words, with confidence.

In cohort j bit i is 1 in a share of the reports that has the mean p* + (q* − p*)·(what share of people have it in their
filter). That share is the sum of the shares of the words that set it: linear in what is asked, with filters that are
known. Words that are no candidates set bits about evenly, which one constant takes up; what they do unevenly is seen
in the residuals, and the standard errors are raised by it. Least squares are weighted by the coins' variance, at the
shares fitted first, so estimates are unbiased but for words that nobody named and that set the bits of a candidate.

A candidate is *significant* if noise alone would bring any of them that far with the probability `false_alarm` at most
(Bonferroni).

**Source**: Erlingsson, Pihur, Korolova 2014, Section 4. They thin out candidates by LASSO first, as theirs outnumber
the bits; here candidates may be half as many as bits of all cohorts, and nothing is chosen by the data that is then
tested by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.special
from numpy.typing import NDArray

from sordino.arguments import probability
from sordino.collect.estimate import Estimate
from sordino.collect.fingerprint import fingerprints
from sordino.collect.frequencies.rappor import Rappor
from sordino.collect.poison import Poison
from sordino.collect.randomizer import Counts
from sordino.errors import ArgumentError

Floats = NDArray[np.float64]
_MOST_CANDIDATES = 5000


@dataclass(frozen=True)
class Decoded:
    """How many of all people hold each candidate, which of them surely some do, and how far one liar moves one."""

    words: tuple[str, ...]
    estimate: Estimate
    significant: NDArray[np.bool_]
    poison: Poison

    def found(self) -> tuple[str, ...]:
        """Return the significant words, the most frequent first."""
        order = np.argsort(-self.estimate.values, kind="stable")
        return tuple(self.words[place] for place in order.tolist() if self.significant[place])


@dataclass(frozen=True)
class _Fit:
    """Weighted least squares: coefficients (the last is the constant), their covariance and the map from shares."""

    values: Floats
    covariance: Floats
    linear: Floats


def decode(way: Rappor, counts: Counts, words: Sequence[str], *, false_alarm: float = 0.05) -> Decoded:
    """Return estimates for candidate words from the counts of all cohorts."""
    alarm = float(probability("false_alarm", false_alarm))
    used = counts[:, 0] > 0
    reports = int(counts[:, 0].sum())
    _check(len(words), len(set(words)), int(used.sum()) * way.bits, reports)
    filters = _filters(way, words, np.flatnonzero(used))
    people = np.repeat(counts[used, 0], way.bits).astype(np.float64)
    own, other = float(way.coins.own), float(way.coins.other)
    seen = (counts[used, 1:].ravel() / people - other) / (own - other)
    first = _fitted(filters, seen, people)
    ones = other + (own - other) * np.clip(filters @ first.values, 0.0, 1.0)
    variances = ones * (1 - ones) / people / (own - other) ** 2
    fit = _fitted(filters, seen, 1 / variances)
    residual = np.square(seen - filters @ fit.values) / variances
    inflation = max(1.0, float(residual.sum()) / (len(seen) - filters.shape[1]))
    errors = np.sqrt(np.diag(fit.covariance)[:-1] * inflation) * reports
    estimate = Estimate(fit.values[:-1] * reports, errors, reports)
    significant = estimate.values > -float(scipy.special.ndtri(alarm / len(words))) * errors
    scale = reports / counts[used, 0] / (own - other)
    reach = _poison(fit.linear[:-1].reshape(len(words), -1, way.bits) * scale[:, None], own, other)
    return Decoded(tuple(words), estimate, significant, reach)


def _check(words: int, different: int, rows: int, reports: int) -> None:
    if reports == 0:
        raise ArgumentError("an estimate needs at least one report; wait for some", "SRD-C102")
    if words == 0 or words != different:
        raise ArgumentError("candidates must be words, each named once", "SRD-C158")
    if words > min(rows // 2, _MOST_CANDIDATES):
        raise ArgumentError(
            f"{words} candidates are too many: at most {_MOST_CANDIDATES}, and half of the {rows} bits of the cohorts "
            "that have reports; ask about fewer, or set up more cohorts or bits",
            "SRD-C158",
        )


def _filters(way: Rappor, words: Sequence[str], cohorts: NDArray[np.intp]) -> scipy.sparse.csr_array:
    """Return a row for each bit of each cohort and a column for each word, and one of ones at the end."""
    places = way.places(fingerprints(words)[:, None], cohorts[None, :].astype(np.int64))
    height = len(cohorts) * way.bits
    rows = (np.arange(len(cohorts))[None, :, None] * way.bits + places).ravel()
    columns = np.repeat(np.arange(len(words)), len(cohorts) * way.hashes)
    places_of = (np.concatenate([rows, np.arange(height)]), np.concatenate([columns, np.full(height, len(words))]))
    filled = scipy.sparse.csr_array((np.ones(len(rows) + height), places_of), shape=(height, len(words) + 1))
    filled.data = np.minimum(filled.data, 1.0)  # two functions may set the same bit
    return filled


def _fitted(filters: scipy.sparse.csr_array, seen: Floats, weights: Floats) -> _Fit:
    weighted = filters.multiply(weights[:, None]).tocsr()
    square = (filters.T @ weighted).toarray()
    try:
        covariance = scipy.linalg.inv(square)
    except scipy.linalg.LinAlgError:
        raise ArgumentError(
            "some candidates set the same bits in all cohorts; set up more cohorts or bits", "SRD-C158"
        ) from None
    linear = (weighted @ covariance).T
    return _Fit(linear @ seen, covariance, linear)


def _poison(weights: NDArray[np.float64], own: float, other: float) -> Poison:
    """Return the reach of one client, who chooses a cohort and all bits, over the word that it can move most.

    A report adds Σ weight·(bit − p*); an honest one on average between −(q* − p*)·(negative weights) and the same of
    the positive ones. Weights are of (words, cohorts, bits).
    """
    up, down = np.maximum(weights, 0.0).sum(axis=2), np.maximum(-weights, 0.0).sum(axis=2)
    raised = (up * (1 - other) + down * other).max(axis=1) + (own - other) * down.max(axis=1)
    lowered = (down * (1 - other) + up * other).max(axis=1) + (own - other) * up.max(axis=1)
    return Poison(Fraction(float(raised.max())), Fraction(float(lowered.max())))
