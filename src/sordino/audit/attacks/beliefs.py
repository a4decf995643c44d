"""What an attacker believes about people's secrets before and after a release, by Bayes' rule and nothing else.

**Source**: Dwork, McSherry, Nissim, Smith 2006, appendix A; Kasiviswanathan, Smith 2014, *On the "semantics" of
differential privacy*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.arguments import Number, rational, rounded_up
from sordino.errors import ArgumentError
from sordino.query.answer.answer import Answer

from .tables import arrow, claimed_by, codes_of_any, count_column, numbers_in, shared_codes

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Beliefs:
    """What an attacker believes about each person's true secret, before and after she sees a release."""

    prior: Floats = field(repr=False, compare=False)
    posterior: Floats = field(repr=False, compare=False)
    largest: float
    """The largest factor by which the odds of one secret against another moved, for anybody."""
    allowed: float = math.inf
    """The largest factor that the claim allows."""

    @property
    def holds(self) -> bool:
        """Whether no belief moved by more than is allowed; to the precision of floats."""
        return self.largest <= self.allowed * (1 + 1e-9)

    def __str__(self) -> str:
        believed = f"belief in the truth from {float(np.mean(self.prior)):.3f} to {float(np.mean(self.posterior)):.3f}"
        moved = "without limit" if math.isinf(self.largest) else f"{self.largest:.3g}-fold at most"
        allowed = "" if math.isinf(self.allowed) else f", {self.allowed:.3g} allowed"
        return f"{believed} on average; odds moved {moved}{allowed}"


def odds(beliefs: Floats) -> Floats:
    """Return odds; those of what is certain are infinite."""
    with np.errstate(divide="ignore"):
        return np.asarray(beliefs / (1 - beliefs))


def by_class(counts: Codes, classes: Codes, secrets: Codes) -> Beliefs:
    """Return the beliefs of who knows in which class each person is, and the exact counts of secrets by class.

    Before, she believed of everybody what is true of all people together.
    """
    everybody = counts.sum(axis=0) / max(int(counts.sum()), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        moved = np.log(shares / everybody)
    return Beliefs(everybody[secrets], shares[classes, secrets], _factor(moved.max(axis=1) - moved.min(axis=1)))


def by_noisy_counts(
    people: pa.Table,
    secret: str,
    private: Any,
    *,
    count: str | None = None,
    epsilon: Number | None = None,
    scale: Number | None = None,
) -> Beliefs:
    """Return the beliefs of who knows noisy counts by class and secret, and the rows of all people but one.

    For each person in turn: she knows the class, and of every count how much of it is due to others. So she knows, for
    each secret, which noise there must have been, and how likely it was. Before, she believed what the others of the
    class suggest (Laplace's rule of succession); the factor by which her odds move is the same for any other prior.

    **Guarantee**: the exact posterior. **Assumes**: independent Laplace noise of `scale` rows in each count, as it was
    released (not rounded, not cut off at 0), to which a person adds one in one cell; all groups shown.
    """
    cells = arrow("private", private)
    counts = count_column(private, cells, count)
    claim, _ = claimed_by(private, epsilon, 0)
    width = float(rational("scale", scale, above=0)) if scale is not None else _scale_of(private)
    on = [name for name in cells.column_names if name in people.column_names and name not in (secret, counts)]
    names, tables = ["private", "people"], [cells, people]
    (cell_secrets, secrets), kinds = shared_codes(names, tables, [secret])
    (cell_classes, classes), number = codes_of_any(names, tables, on)
    noisy = np.full((number, kinds), np.nan)
    noisy[cell_classes, cell_secrets] = numbers_in("private", cells, counts)
    exact = np.bincount(classes * kinds + secrets, minlength=number * kinds).reshape(number, kinds)
    if np.isnan(noisy).any():
        raise ArgumentError(
            "the private table must show every secret in every class, and all people's: declare keys, so that all "
            "groups come back",
            "SRD-A002",
        )
    return _posterior(noisy, exact, classes, secrets, width, 2 * rounded_up(rational("epsilon", claim, least=0)))


def _posterior(noisy: Floats, exact: Codes, classes: Codes, secrets: Codes, width: float, loss: float) -> Beliefs:
    if_other = _support(noisy - exact, width)  # for a secret that is not theirs, all that is counted is due to others
    if_theirs = _support(noisy - (exact - 1), width)
    before, after, moved = np.empty((3, *noisy.shape))
    for theirs in range(noisy.shape[1]):
        others, support = exact.astype(np.float64), if_other.copy()
        others[:, theirs] -= 1
        support[:, theirs] = if_theirs[:, theirs]
        likely = (others + 1) * np.exp(support)
        before[:, theirs] = (others[:, theirs] + 1) / (others + 1).sum(axis=1)
        after[:, theirs] = likely[:, theirs] / likely.sum(axis=1)
        moved[:, theirs] = support.max(axis=1) - support.min(axis=1)
    largest = _factor(moved[exact > 0])
    return Beliefs(before[classes, secrets], after[classes, secrets], largest, math.exp(min(loss, 700.0)))


def _support(left: Floats, width: float) -> Floats:
    """Return how much likelier what others leave of a count is with one person more in it: the log of the ratio."""
    return np.asarray((np.abs(left) - np.abs(left - 1)) / width)


def _factor(logs: Floats) -> float:
    largest = float(logs.max(initial=0.0))
    return math.inf if largest > 700 else math.exp(largest)


def _scale_of(private: Any) -> float:
    """Return the scale of the Laplace noise in an answer's counts, in rows, as its receipt says."""
    noises = private.details["noise"] if isinstance(private, Answer) else []
    if len(noises) != 1 or noises[0]["law"] != "DiscreteLaplace":
        raise ArgumentError(
            "posteriors are computed for counts with Laplace noise: say its scale in rows, scale=…, or give an answer "
            'of one count that was run with mechanism="laplace"',
            "SRD-A003",
        )
    return float(Fraction(noises[0]["scale"]) * Fraction(noises[0]["step_in_rows"]))
