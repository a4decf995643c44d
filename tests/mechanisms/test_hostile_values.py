"""Every mechanism of selection, of one's own answer and of people's wishes, given values that only mischief hands in.

A refusal is about what is public, the kind or the shape of a value; it comes before the grant is used, is an
`ArgumentError`, and shows nothing of the value, not even how long its texts are. No number is refused, however absurd:
whether a release fails must not depend on data, so numbers are stopped at the ends of the range.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError
from sordino.mechanisms import (
    INTEGERS,
    AboveThreshold,
    AnomalyPolicy,
    Classes,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Grid,
    GumbelMax,
    IsAnomaly,
    Ladder,
    Laplace,
    LaplaceMax,
    LaplaceThreshold,
    LocalAnswer,
    PermuteAndFlip,
    PersonalisedCount,
    PersonalisedMedian,
    Quantiles,
    RandomizedResponse,
    SmoothCauchy,
    TopK,
)

ONE = Bound.scalar(1)
REPLACED = Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE)
POLICY = Classes.of({"careful": "0.1", "open": 1})
CANARY = "canary-of-seventeen"

MECHANISMS = {
    "exponential": (Exponential(1, 2), ONE),
    "gumbel": (GumbelMax(1, 2), ONE),
    "permute-and-flip": (PermuteAndFlip(1, 2), ONE),
    "laplace-max": (LaplaceMax(1, 2), ONE),
    "top-k": (TopK(1, 2), ONE),
    "above-threshold": (AboveThreshold.for_epsilon(1, ONE, threshold=3), ONE),
    "randomized-response": (RandomizedResponse(1, 3), REPLACED),
    "anomaly": (IsAnomaly((Fraction(0), Fraction(0)), 1, AnomalyPolicy(3, 1, 1)), ONE),
}
HOSTILE = {
    "ragged": [[1, 2], [3]],
    "masked": np.ma.masked_array([1, 2], mask=[False, True]),
    "texts": [CANARY, "x"],
    "objects": [object(), object()],
    "complex": [1j, 2j],
    "booleans": [True, False],
    "long doubles": np.ones(2, dtype=np.longdouble),
    "none": None,
}


def grant_for(mechanism, bound: Bound) -> Grant:
    event = mechanism.event(bound)
    return Grant(event, bound)


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", MECHANISMS)
def test_hostile_values_are_refused_in_silence_and_the_grant_stays(name: str, hostile: str) -> None:
    mechanism, bound = MECHANISMS[name]
    grant = grant_for(mechanism, bound)
    with pytest.raises(ArgumentError) as refusal:
        mechanism.release(HOSTILE[hostile], grant)
    assert CANARY not in str(refusal.value)
    assert str(len(CANARY)) not in str(refusal.value)
    assert "unused" in repr(grant)


@pytest.mark.parametrize("hostile", [name for name in HOSTILE if name != "booleans"])
@pytest.mark.parametrize(
    "mechanism", [PersonalisedCount(POLICY, 2), PersonalisedMedian(POLICY, 2, (0, 1, 2))], ids=["count", "median"]
)
def test_hostile_holdings_are_refused_in_silence(mechanism, hostile: str) -> None:
    grant = grant_for(mechanism, REPLACED)
    with pytest.raises(ArgumentError) as refusal:
        mechanism.release((HOSTILE[hostile], ["open", "careful"]), grant)
    assert CANARY not in str(refusal.value)
    assert "unused" in repr(grant)


ABSURD = [
    math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324, 2.0**62,
    2**62, 2**63 - 1, -(2**63), 2**64, 2**70, -(2**400), -1,
]  # fmt: skip
WHOLE = [number for number in ABSURD if type(number) is int]
REAL = Grid(-4)
STOPPED = {
    "laplace": (Laplace(2), ONE, "one"),
    "real laplace": (Laplace(2, REAL), ONE, "one"),
    "gaussian": (Gaussian(2, Grid(-12)), ONE, "one"),
    "discrete gaussian": (DiscreteGaussian(2), ONE, "one"),
    "exponential": (Exponential(1, 2), ONE, "two"),
    "gumbel": (GumbelMax(1, 2, REAL), ONE, "two"),
    "permute-and-flip": (PermuteAndFlip(1, 2, REAL), ONE, "two"),
    "laplace-max": (LaplaceMax(1, 2, REAL), ONE, "two"),
    "top-k": (TopK(1, 2), ONE, "two"),
    "above-threshold": (AboveThreshold.for_epsilon(1, ONE, threshold=3), ONE, "two"),
    "real above-threshold": (AboveThreshold.for_epsilon(1, ONE, threshold=3, grid=REAL), ONE, "two"),
    "randomized-response": (RandomizedResponse(1, 3), REPLACED, "two"),
    "selection": (LaplaceThreshold("0.01", 1), ONE, "two"),
    "quantiles": (Quantiles(("0.5",), 1, 0, 10), ONE, "two"),
}


@pytest.mark.parametrize("name", STOPPED)
def test_no_number_makes_a_release_fail(name: str) -> None:
    mechanism, bound, shape = STOPPED[name]
    real = not getattr(mechanism, "grid", INTEGERS).whole_numbers
    for number in ABSURD if real else WHOLE:
        value = number if shape == "one" else [number, number]
        mechanism.release(value, grant_for(mechanism, bound))
        mechanism.release([number, 0], grant_for(mechanism, bound))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e300, 2**70, -1])
def test_no_number_makes_a_release_about_one_answer_fail(number: float) -> None:
    for mechanism in (SmoothCauchy(1, 5, REAL), Ladder(1, 5, REAL)):
        for answer in (LocalAnswer(number, [1, 2]), LocalAnswer(1.0, [number, 2])):
            mechanism.release(answer, grant_for(mechanism, Bound.scalar(5)))


@pytest.mark.parametrize("kind", [Exponential, GumbelMax, PermuteAndFlip, LaplaceMax, TopK])
def test_an_absurdly_small_scale_is_refused_when_the_mechanism_is_built(kind) -> None:
    with pytest.raises(ArgumentError, match="scale"):
        kind("1e-30", 2)


def test_nearness_of_a_record_depends_on_no_other_record_whatever_the_layout() -> None:
    centre = np.array([0.1, 0.2, 0.3, 0.7, 1.1, 1.3, 1.7, 1.9, 2.3])
    record = centre + 1 / 3
    asked = IsAnomaly(
        tuple(Fraction(float(number)) for number in centre),
        1,
        AnomalyPolicy(3, Fraction(float(np.linalg.norm(record - centre))), 1),
    )
    alone = asked._counts(asked._records(record[np.newaxis]))
    crowd = np.vstack([record, *(centre + 100.0 * i for i in range(1, 9))])
    for layout in ("C", "F"):
        together = asked._counts(asked._records(np.asarray(crowd, order=layout)))
        assert together == alone
