"""k-anonymous tables give secrets away for certain; beliefs moved by private counts stay within e^(2ε)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sordino as so
from audit.people import SEXES, WARDS, hospital
from sordino.audit.attacks.anonymity import coarsened
from sordino.audit.attacks.homogeneity import homogeneity
from sordino.audit.attacks.rates import Rate
from sordino.errors import ArgumentError

ON = ["zip", "age", "sex"]
CELLS = "SELECT sex, decade, ward, COUNT(*) AS n FROM patients GROUP BY sex, decade, ward"


@pytest.fixture(scope="module")
def patients() -> pd.DataFrame:
    return hospital()


@pytest.fixture(scope="module")
def account(patients: pd.DataFrame) -> Any:
    keys = {"sex": so.keys(SEXES), "decade": so.keys(list(range(0, 100, 10))), "ward": so.keys(WARDS)}
    data = so.dataset("patients", patients, unit="person", columns=keys, limits=so.limits(rows=1))
    return so.account(data, so.budget(epsilon=10, delta=1e-6))


# ---- k-anonymity ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 10, 50])
def test_coarsened_tables_are_k_anonymous(patients: pd.DataFrame, k: int) -> None:
    release = coarsened(patients, ON, k).to_pandas()
    sizes = release.groupby(ON).size()
    assert sizes.min() >= k
    assert len(sizes) > len(patients) / (12 * k)  # not by making all of them alike
    assert release.ward.tolist() == patients.ward.tolist()


def test_people_lie_within_the_range_that_is_shown(patients: pd.DataFrame) -> None:
    shown = coarsened(patients, ["age"], 100).column("age").to_pylist()
    for range_shown, age in zip(shown, patients.age, strict=True):
        low, _, high = range_shown.partition(" – ")
        assert int(low) <= age <= int(high or low)


def test_diversity_is_kept_where_it_is_asked_for(patients: pd.DataFrame) -> None:
    release = coarsened(patients, ON, 10, sensitive="ward", diversity=3).to_pandas()
    assert release.groupby(ON).ward.nunique().min() >= 3
    assert release.groupby(ON).size().min() >= 10


def test_what_cannot_be_coarsened_is_refused(patients: pd.DataFrame) -> None:
    with pytest.raises(ArgumentError, match="sensitive="):
        coarsened(patients, ON, 10, diversity=2)
    with pytest.raises(ArgumentError, match="fewer than 9"):
        coarsened(patients, ON, 10, sensitive="ward", diversity=9)
    with pytest.raises(ArgumentError, match="k must be at most"):
        coarsened(patients.head(5), ON, 10)
    with pytest.raises(ArgumentError, match="no column 'street'"):
        coarsened(patients, ["street"], 10)


# ---- the attack on it -----------------------------------------------------------------------------------------------


def test_ten_anonymous_people_whose_secret_is_certain(patients: pd.DataFrame) -> None:
    found = so.audit.homogeneity(patients, ON, "ward", k=10)
    assert found.k >= 10
    assert found.diversity == 1
    assert found.certain[0].share > 0.1
    assert found.certain[0].share < found.certain[1].share < found.certain[2].share
    assert math.isinf(found.raw.largest)
    # What is certain is true: the posterior of those people's own ward is one.
    assert np.count_nonzero(found.raw.posterior == 1) == found.certain[0].hits


def test_diversity_hides_it_until_something_else_is_known(patients: pd.DataFrame) -> None:
    found = homogeneity(patients, ON, "ward", k=10, diversity=3)
    assert found.diversity == 3
    assert found.certain[0].hits == found.certain[1].hits == 0
    assert found.certain[2].share > 0.1


def test_classes_by_hand() -> None:
    people = {"zip": ["a", "a", "b", "b", "b"], "ill": ["x", "x", "x", "y", "y"]}
    found = homogeneity(people, ["zip"], "ill")
    assert (found.k, found.diversity, found.classes) == (2, 1, 2)
    assert found.certain == (Rate(2, 5), Rate(5, 5), Rate(5, 5))
    assert found.raw.prior.tolist() == [0.6, 0.6, 0.6, 0.4, 0.4]
    assert found.raw.posterior == pytest.approx([1, 1, 1 / 3, 2 / 3, 2 / 3])
    assert found == homogeneity(pl.DataFrame(people), ["zip"], "ill")


# ---- against noise --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1])
def test_no_belief_moves_by_more_than_epsilon_allows(patients: pd.DataFrame, account: Any, epsilon: float) -> None:
    answer = account.sql(CELLS).run(epsilon=epsilon)
    found = homogeneity(patients, ON, "ward", k=10, private=answer).private
    assert found is not None
    assert found.allowed == pytest.approx(math.exp(2 * epsilon))
    assert found.holds
    assert found.largest > math.exp(1.9 * epsilon)  # the bound is reached, so the check is not an empty one
    assert found.posterior.max() < 1
    factor = found.posterior / (1 - found.posterior) * (1 - found.prior) / found.prior
    assert factor.max() <= found.allowed * (1 + 1e-9)
    assert factor.min() >= 1 / found.allowed * (1 - 1e-9)


def test_too_little_noise_is_found_out(patients: pd.DataFrame) -> None:
    dice = np.random.default_rng(2)
    cells = pd.MultiIndex.from_product([SEXES, range(0, 100, 10), WARDS], names=["sex", "decade", "ward"])
    exact = patients.groupby(["sex", "decade", "ward"]).size().reindex(cells, fill_value=0).rename("n")
    noisy = (exact + dice.laplace(0, 0.5, len(exact))).reset_index()
    found = homogeneity(patients, ON, "ward", private=noisy, count="n", epsilon=1, scale=0.5).private
    assert found is not None
    assert not found.holds
    assert found.largest == pytest.approx(math.exp(4))


def test_the_posterior_is_that_of_bayes() -> None:
    # One class, secrets x and y; for each person the other two are known, and two noisy counts.
    people = {"who": [1, 2, 3], "ill": ["x", "x", "y"]}
    noisy = {"ill": ["x", "y"], "n": [2.7, 0.4]}
    found = homogeneity(people, ["who"], "ill", private=noisy, count="n", epsilon=1, scale=1).private
    assert found is not None

    def density(counts: list[float]) -> float:
        return math.prod(math.exp(-abs(seen - count)) for seen, count in zip(noisy["n"], counts, strict=True))

    for person, others in ((0, [1, 1]), (1, [1, 1]), (2, [2, 0])):
        prior = [(count + 1) / (sum(others) + 2) for count in others]
        joint = [prior[0] * density([others[0] + 1, others[1]]), prior[1] * density([others[0], others[1] + 1])]
        own = 0 if people["ill"][person] == "x" else 1
        assert found.prior[person] == pytest.approx(prior[own])
        assert found.posterior[person] == pytest.approx(joint[own] / sum(joint))


def test_beliefs_are_calibrated() -> None:
    # Of those who are believed with 70 % to be ill, 70 % are: the attacker uses all there is to use, and no more.
    dice = np.random.default_rng(4)
    rounds, ill = 4_000, dice.random(4_000) < 0.5
    others = 5
    people = {
        "town": np.repeat(np.arange(rounds), 1 + 2 * others),
        "ill": np.column_stack([ill, np.tile([True, False], (rounds, others))]).ravel(),
    }
    cells = {"town": np.repeat(np.arange(rounds), 2), "ill": np.tile([True, False], rounds)}
    exact = np.column_stack([others + ill, others + ~ill]).ravel()
    noisy = cells | {"n": exact + dice.laplace(0, 1, exact.size)}
    found = homogeneity(people, ["town"], "ill", private=noisy, count="n", epsilon=1, scale=1).private
    assert found is not None
    first = found.posterior.reshape(rounds, -1)[:, 0]  # of the truth
    belief = np.where(ill, first, 1 - first)  # of being ill
    for low, high in ((0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9)):
        these = (belief > low) & (belief <= high)
        spread = math.sqrt(0.25 / these.sum())
        assert abs(ill[these].mean() - belief[these].mean()) < 4.5 * spread


def test_only_what_can_be_computed_exactly_is(patients: pd.DataFrame, account: Any) -> None:
    gaussian = account.sql(CELLS).run(epsilon=0.5, mechanism="gaussian")
    with pytest.raises(ArgumentError, match="Laplace"):
        homogeneity(patients, ON, "ward", private=gaussian)
    with pytest.raises(ArgumentError, match="every secret in every class"):
        homogeneity(patients, ON, "ward", private={"ward": ["urology"], "n": [3]}, count="n", epsilon=1, scale=1)


def test_the_figure_shows_both_halves(patients: pd.DataFrame, account: Any) -> None:
    found = homogeneity(patients, ON, "ward", k=10, private=account.sql(CELLS).run(epsilon=0.5))
    left, right = found.figure().axes
    assert len(left.patches) == 3
    assert [line.get_label() for line in right.lines if not line.get_label().startswith("_")] == [
        "k-anonymous",
        "private",
    ]
    assert "allowed" in str(found)
