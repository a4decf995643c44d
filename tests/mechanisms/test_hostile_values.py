"""Every mechanism of selection, of one's own answer and of people's wishes, given values that only mischief hands in.

A refusal comes before the grant is used, is an `ArgumentError`, and shows nothing of the value, not even how long its
texts are.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError
from sordino.mechanisms import (
    AboveThreshold,
    AnomalyPolicy,
    Exponential,
    GumbelMax,
    IsAnomaly,
    LaplaceMax,
    PermuteAndFlip,
    PersonalisedCount,
    PersonalisedMedian,
    Policy,
    RandomizedResponse,
    TopK,
)

ONE = Bound.scalar(1)
REPLACED = Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE)
POLICY = Policy.of({"careful": "0.1", "open": 1})
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
    "beyond int64": [2**70, -(2**70)],
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
