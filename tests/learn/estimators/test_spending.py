"""ε given is ε spent, in every calculus; what cannot be is refused before anything is charged."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sordino as so
from learn.estimators.every import NAMES, account, estimator, rows
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, SordinoError
from sordino.learn import estimators
from sordino.learn.estimators.plan import Sum
from sordino.learn.estimators.spending import spending_of


@pytest.mark.parametrize("neighbours", [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_given_is_what_is_spent(name: str, neighbours: Neighbours) -> None:
    x, y = rows(40)
    pure = account(so.budget(epsilon=1), neighbours)
    estimator(name, pure, epsilon=1).fit(x, y)
    assert pure.account.used == 1
    concentrated = account(so.budget(rho="0.5"), neighbours)
    estimator(name, concentrated, epsilon=None, rho="0.5").fit(x, y)
    assert concentrated.account.used == pytest.approx(1, abs=1e-9)
    assert concentrated.account.used <= 1
    approximate = account(so.budget(epsilon=1, delta=1e-5), neighbours)
    estimator(name, approximate, epsilon=1).fit(x, y)
    assert 1 - 1e-5 < approximate.account.used <= 1


def test_finding_takes_its_share_of_the_same_price() -> None:
    x, y = rows(400)
    budget = account(so.budget(epsilon=1, delta=1e-5))
    model = estimators.GaussianNB(epsilon=1, budget=budget).fit(x, y)
    assert 1 - 1e-5 < budget.account.used <= 1
    assert set(model.classes_) <= {0, 1}


def test_replaced_rows_have_twice_the_noise() -> None:
    one = Sum("one", so.Bound.scalar(1), Fraction(1))
    noises = [
        spending_of(account(so.budget(epsilon=1), neighbours), 1, None, None)
        .priced([one])[0]
        .mechanism.variance_of_error
        for neighbours in (Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE)
    ]
    assert noises[1] == pytest.approx(4 * noises[0], rel=1e-6)


@pytest.mark.parametrize("budget", [so.budget(epsilon=2), so.budget(epsilon=2, delta=1e-6)])
def test_noise_is_as_large_as_it_should_be(budget: Any) -> None:
    # Claimed apart from the mechanisms: Laplace noise of scale 1/ε has a variance of 2/ε²; of two equal Gaussian sums
    # each has twice the variance of one alone. A scale of 0.7 or 1.3 times that is told apart.
    halves = [Sum(name, so.Bound.scalar(1), Fraction(1, 2)) for name in "ab"]
    spent = spending_of(account(budget), 2, None, None)
    alone = spent.priced([Sum("a", so.Bound.scalar(1), Fraction(1))])[0].mechanism
    noisy = spent.priced(halves)[0].mechanism
    claimed = 2.0 if not budget.delta else 2 * alone.variance_of_error
    draws = np.asarray(noisy.law.draw(20_000), dtype=float) * float(noisy.grid.step)  # type: ignore[union-attr]
    found = float(np.mean(draws**2))
    for scale, fits in ((1.0, True), (0.7, False), (1.3, False)):
        reach = 6 * scale**2 * claimed * np.sqrt((5 if not budget.delta else 2) / len(draws))
        assert bool(abs(found - scale**2 * claimed) <= reach) is fits, (scale, found, claimed)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("StandardScaler", {"epsilon": 0}),
        ("StandardScaler", {"epsilon": float("nan")}),
        ("StandardScaler", {"bounds": (1, 0)}),
        ("StandardScaler", {"bounds": (0, float("inf"))}),
        ("StandardScaler", {"bounds": ([0, 0, 0], 1)}),
        ("StandardScaler", {"epsilon": 1, "rho": 1}),
        ("LogisticRegression", {"data_norm": 0}),
        ("LogisticRegression", {"C": -1}),
        ("LogisticRegression", {"classes": (1, 1)}),
        ("LogisticRegression", {"classes": None}),  # a pure budget has no δ to find them with
        ("GaussianNB", {"priors": (0.9, 0.9)}),
        ("Ridge", {"alpha": -1}),
        ("PCA", {"n_components": 3}),
        ("KMeans", {"n_clusters": 0}),
        ("HistogramDensity", {"bins": 10**6}),
        ("RandomForestClassifier", {"max_depth": 0}),
        ("ExplainableBoostingClassifier", {"max_leaves": 1}),
        ("ExplainableBoostingClassifier", {"feature_types": ["nominal"]}),
        ("ExplainableBoostingRegressor", {"bounds": None, "feature_types": ["nominal", "continuous"]}),
    ],
)
def test_bad_words_cost_nothing(name: str, words: dict[str, Any]) -> None:
    x, y = rows(10)
    budget = account(so.budget(epsilon=1))
    with pytest.raises(SordinoError):
        estimator(name, budget, **words).fit(x, y)
    assert budget.account.used == 0


def test_other_units_and_emptied_rows_are_refused() -> None:
    x, y = rows(10)
    users = so.learn.examples("users", x, size=10, unit="user", owners=np.arange(10))
    with pytest.raises(ArgumentError, match="each user"):
        estimator("GaussianNB", so.account(users, so.budget(epsilon=1))).fit(x, y)
    with pytest.raises(ArgumentError, match="emptied"):
        estimator("GaussianNB", account(so.budget(epsilon=1), Neighbours.ZERO_OUT)).fit(x, y)


def test_float_labels_are_refused_by_type_and_never_by_value() -> None:
    x, y = rows(10)
    budget = account(so.budget(epsilon=1))
    for labels in (y.astype(float), y + 0.5):
        with pytest.raises(ArgumentError, match="Unknown label type"):
            estimator("GaussianNB", budget, classes=None).fit(x, labels)
    assert budget.account.used == 0
    estimator("GaussianNB", budget, classes=(0.0, 1.0)).fit(x, y + 0.5)


def test_a_rare_label_is_not_shown() -> None:
    x, _ = rows(400)
    labels = np.array(["often"] * 200 + ["too"] * 199 + ["canary"], dtype=object)
    model = estimator("GaussianNB", account(so.budget(epsilon=5, delta=1e-6)), epsilon=5, classes=None).fit(x, labels)
    assert list(model.classes_) == ["often", "too"]


def test_a_ledger_keeps_the_fit_and_verifies(tmp_path: Path) -> None:
    x, y = rows(50)
    with so.open(tmp_path / "budget.db") as house:
        budget = house.account(so.learn.examples("rows", x, y, size=50), so.budget(epsilon=1, delta=1e-6))
        model = estimator("LogisticRegression", budget, epsilon="0.5").fit(x, y)
        assert model.receipt_ is not None
        text = str(model.receipt_)
        assert "canary" not in text
        assert len(budget.history) == 1
