"""Without noise the models are scikit-learn's; with it they still learn; nothing of one row shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.covariance
import sklearn.decomposition
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.preprocessing

import sordino as so
from learn.estimators.every import VANISHING, account, rows
from sordino.learn import estimators

PEERS: list[tuple[Any, Any, tuple[str, ...]]] = [
    (estimators.StandardScaler(bounds=(-1, 1)), sklearn.preprocessing.StandardScaler(), ("mean_", "var_")),
    (
        estimators.LinearRegression(bounds_X=(-1, 1), bounds_y=(-2, 2)),
        sklearn.linear_model.LinearRegression(),
        ("coef_", "intercept_"),
    ),
    (
        estimators.LinearRegression(bounds_X=(-1, 1), bounds_y=(-2, 2), fit_intercept=False),
        sklearn.linear_model.LinearRegression(fit_intercept=False),
        ("coef_",),
    ),
    (estimators.Ridge(50, data_norm=3, bounds_y=(-2, 2)), sklearn.linear_model.Ridge(50), ("coef_", "intercept_")),
    (
        estimators.GaussianNB(bounds=(-1, 1), classes=(0, 1)),
        sklearn.naive_bayes.GaussianNB(),
        ("theta_", "var_", "class_prior_"),
    ),
    (estimators.PCA(2, bounds=(-1, 1)), sklearn.decomposition.PCA(2), ("explained_variance_ratio_", "mean_")),
    (
        estimators.EmpiricalCovariance(data_norm=2),
        sklearn.covariance.EmpiricalCovariance(),
        ("covariance_", "location_"),
    ),
]


@pytest.mark.parametrize(("ours", "theirs", "names"), PEERS, ids=lambda each: type(each).__name__)
def test_without_noise_it_is_what_scikit_learn_finds(ours: Any, theirs: Any, names: tuple[str, ...]) -> None:
    x, y = rows(3000, columns=3)
    x[:, 1] = 0.5 * x[:, 0] + 0.3 * x[:, 1]
    ours.set_params(epsilon=VANISHING, budget=account()).fit(x, y)
    theirs.fit(x, y)
    for name in names:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=2e-3)


@pytest.mark.parametrize("classes", [2, 4])
def test_logistic_steps_reach_the_optimum(classes: int) -> None:
    random = np.random.default_rng(3)
    x = random.uniform(-1, 1, (4000, 3))
    y = np.argmax(x @ random.standard_normal((3, classes)) + random.gumbel(size=(4000, classes)), axis=1)
    ours = estimators.LogisticRegression(epsilon=VANISHING, data_norm=2, classes=range(classes), budget=account()).fit(
        x, y
    )
    theirs = sklearn.linear_model.LogisticRegression(C=1).fit(x, y)
    assert np.mean(ours.predict(x) == theirs.predict(x)) > 0.97
    assert ours.score_public(x, y) > theirs.score(x, y) - 0.005


@pytest.mark.parametrize(
    "model",
    [
        estimators.LogisticRegression(),
        estimators.GaussianNB(),
        estimators.RandomForestClassifier(random_state=0),
        estimators.ExplainableBoostingClassifier(random_state=0),
    ],
    ids=lambda each: type(each).__name__,
)
def test_classes_are_told_apart_with_noise_and_nothing_declared(model: Any) -> None:
    x, y = rows(6000, columns=4)
    budget = account(so.budget(epsilon=1, delta=1e-6))
    model.set_params(epsilon=1, budget=budget).fit(x, np.array(["no", "yes"])[y])
    assert list(model.classes_) == ["no", "yes"]
    assert np.mean(model.predict(x) == np.array(["no", "yes"])[y]) > 0.8
    np.testing.assert_allclose(model.predict_proba(x[:9]).sum(axis=1), 1)


def test_a_target_is_followed_with_noise() -> None:
    x, _ = rows(6000, columns=3)
    y = 3 * np.abs(x[:, 0]) - x[:, 1]
    budget = account(so.budget(epsilon=4, delta=1e-6))
    boosted = estimators.ExplainableBoostingRegressor(epsilon=2, budget=budget, random_state=0).fit(x, y)
    straight = estimators.LinearRegression(epsilon=2, budget=budget).fit(x, y)
    assert boosted.score_public(x, y) > 0.8 > straight.score_public(x, y) > 0.2  # a line cannot follow |x|


def test_clusters_are_found_with_noise() -> None:
    random = np.random.default_rng(4)
    centres = np.array([[-0.7, -0.7], [0.7, 0.7], [0.7, -0.7]])
    x = np.vstack([centre + 0.1 * random.standard_normal((2000, 2)) for centre in centres])
    model = estimators.KMeans(
        3, epsilon=2, bounds=(-1, 1), random_state=1, budget=account(so.budget(epsilon=2, delta=1e-6))
    )
    found = model.fit(x).cluster_centers_
    assert max(np.linalg.norm(found - centre, axis=1).min() for centre in centres) < 0.1


def test_a_density_is_a_distribution() -> None:
    x, _ = rows(5000)
    model = estimators.HistogramDensity(4, epsilon=1, bounds=(-1, 1), budget=account()).fit(x)
    assert model.shares_.sum() == pytest.approx(1)
    assert (model.shares_ >= 0).all()
    np.testing.assert_allclose(np.exp(model.score_samples(x[:5])), 0.25, atol=0.05)  # uniform over an area of 4
    assert model.score_samples([[9.0, 9.0]])[0] == -np.inf
    made = model.sample(2000)
    assert np.abs(made).max() <= 1
    np.testing.assert_allclose(made.mean(axis=0), 0, atol=0.1)


def test_bounds_that_are_found_hold_nearly_all() -> None:
    random = np.random.default_rng(5)
    x = np.column_stack([random.normal(1000, 5, 4000), random.uniform(0, 1e-3, 4000), np.zeros(4000)])
    model = estimators.StandardScaler(epsilon=1, budget=account()).fit(x)
    assert (np.abs(model.mean_ - [1000, 5e-4, 0]) < [20, 1e-4, 1e-3]).all()


def test_a_shape_is_drawn_with_its_band() -> None:
    x, y = rows(2000)
    model = estimators.ExplainableBoostingClassifier(
        epsilon=1,
        bounds=([-1, 0], [1, 2]),
        feature_types=["continuous", "nominal"],
        classes=(0, 1),
        budget=account(),
    ).fit(np.column_stack([x[:, 0], np.arange(2000) % 3]), y)
    axes = model.plot(0)
    assert axes.get_xlabel() == "column 0"
    assert len(axes.collections) == 1  # the band
    assert (model.shapes_[0].deviations > 0).all()
    assert len(model.plot(1).patches) == 3  # a bar for each category
    assert model.shapes_[0].scores[-2, 0] > model.shapes_[0].scores[0, 0]  # it rises, as the labels do
