"""scikit-learn's contract: its own checks, clones, pipelines, searches, pickles, and accounts that are never copied."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

import sordino as so
from learn.estimators.every import NAMES, UNSCORED, VANISHING, account, estimator, rows
from sordino.errors import ArgumentError, BudgetError, RunError
from sordino.learn import estimators
from sordino.learn.estimators import price


@pytest.mark.parametrize("name", NAMES)
def test_scikit_learn_finds_nothing(name: str) -> None:
    # Some checks compare two fits to a part in ten million, so this is at an ε at which noise vanishes. Nothing is
    # declared: bounds and labels are found in whatever data the checks bring.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(getattr(estimators, name)(epsilon=VANISHING, budget=account()), on_skip=None)


@pytest.mark.parametrize("name", NAMES)
def test_tags_say_what_to_expect(name: str) -> None:
    tags = get_tags(estimator(name, account()))
    assert tags.non_deterministic
    assert tags.input_tags.allow_nan
    for kind in (tags.classifier_tags, tags.regressor_tags):
        assert kind is None or kind.poor_score


def test_a_clone_spends_from_the_same_account() -> None:
    budget = account(so.budget(epsilon=1))
    x, y = rows(50)
    first = estimator("GaussianNB", budget, epsilon=0.6)
    second = clone(first)
    assert second.budget is budget
    assert copy.deepcopy(budget) is budget
    assert copy.copy(budget) is budget
    first.fit(x, y)
    with pytest.raises(BudgetError):
        second.fit(x, y)


def test_a_pickled_model_predicts_and_has_no_account() -> None:
    x, y = rows(50)
    model = estimator("LogisticRegression", account(), epsilon=1).fit(x, y)
    other = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(other.predict(x), model.predict(x))
    assert other.budget is None
    with pytest.raises(ArgumentError, match="n_jobs=1"):
        other.fit(x, y)
    with pytest.raises(ArgumentError, match="an account"):
        other.score(x, y)


def test_labels_of_rows_are_not_pickled() -> None:
    x, _ = rows(50)
    model = estimator("KMeans", account(), epsilon=1).fit(x)
    assert model.labels_.shape == (50,)
    assert not hasattr(pickle.loads(pickle.dumps(model)), "labels_")  # noqa: S301


def test_an_account_is_refused_where_it_is_unpickled() -> None:
    with pytest.raises(BudgetError, match="sent elsewhere"):
        pickle.loads(pickle.dumps(account()))  # noqa: S301


def test_without_an_account_the_error_names_the_way_to_one() -> None:
    x, y = rows(10)
    with pytest.raises(ArgumentError, match=r"so\.account.*so\.unlimited"):
        estimator("GaussianNB", None).fit(x, y)


def test_a_pipeline_is_charged_what_it_said() -> None:
    budget = account(so.budget(epsilon=1))
    x, y = rows(200)
    pipeline = make_pipeline(
        estimator("StandardScaler", budget, epsilon="0.25"),
        estimator("GaussianNB", budget, epsilon="0.5", bounds=(-3, 3)),
    )
    assert price(pipeline).epsilon == so.budget(epsilon="0.75").epsilon
    pipeline.fit(x, y)
    assert budget.account.used == 0.75
    assert pipeline.predict(x).shape == (200,)


def test_a_search_is_charged_what_it_said() -> None:
    x, y = rows(120)
    budget = account(so.budget(epsilon=100))
    search = GridSearchCV(
        estimator("LogisticRegression", budget, epsilon=1, score_epsilon="0.5"), {"C": [0.1, 1.0]}, cv=3, n_jobs=1
    )
    told = price(search)
    assert told.epsilon == 2 * 3 * (1 + told.lines[1].epsilon) + 1  # type: ignore[operator]
    assert told.lines[1].epsilon == so.budget(epsilon="0.5").epsilon
    search.fit(x, y)
    assert budget.account.used == pytest.approx(float(told.epsilon) / 100, abs=1e-12)
    assert str(told).endswith("in all ε = 10")


def test_a_random_search_tells_its_price_and_a_free_score_is_refused() -> None:
    inner = estimator("LogisticRegression", account(), epsilon=1)
    random = RandomizedSearchCV(inner, {"C": [0.1, 1.0, 10.0]}, n_iter=2, cv=4)
    assert price(random).epsilon == so.budget(epsilon="9.8").epsilon
    with pytest.raises(ArgumentError, match="nobody pays"):
        price(GridSearchCV(inner, {"C": [1.0]}, scoring="accuracy"))


@pytest.mark.slow
def test_other_processes_have_no_account() -> None:
    x, y = rows(60)
    search = GridSearchCV(
        estimator("GaussianNB", account(), epsilon=1),
        {"var_smoothing": [1e-9, 1e-3]},
        cv=2,
        n_jobs=2,
        error_score="raise",
    )
    with pytest.raises(ArgumentError, match="n_jobs=1"):
        search.fit(x, y)


@pytest.mark.parametrize("name", sorted(set(NAMES) - UNSCORED))
def test_a_score_is_paid_for_and_public_rows_are_free(name: str) -> None:
    budget = account(so.budget(epsilon=20))
    x, y = rows(3000)
    model = estimator(name, budget, epsilon=10).fit(x, y)
    assert budget.account.used == pytest.approx(0.5, abs=1e-9)
    exact = model.score_public(x, y)
    assert budget.account.used == pytest.approx(0.5, abs=1e-9)
    assert model.score(x, y) == pytest.approx(exact, abs=0.2)
    assert budget.account.used == pytest.approx(0.55, abs=1e-9)
    model.set_params(score_epsilon="0.25").score(x, y)
    assert budget.account.used == pytest.approx(0.5625, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_no_value_raises_or_warns(name: str) -> None:
    x, y = rows(30)
    x[::3, 0], x[::4, 1], x[::5, 0], x[::7, 1] = np.nan, np.inf, -1e308, 5e-324
    model = estimator(name, account(), epsilon=1).fit(x, y)
    for method in ("predict", "transform", "score_samples", "predict_proba"):
        if hasattr(model, method):
            assert len(getattr(model, method)(x)) == 30


def test_whatever_fails_after_the_charge_is_mute_and_stays_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows(30)

    def fail(*_: object) -> None:
        raise ValueError("4711 is a value of some row")

    budget = account(so.budget(epsilon=1))
    monkeypatch.setattr("sordino.learn.estimators.scaler.moments", fail)
    with pytest.raises(RunError) as caught:
        estimator("StandardScaler", budget, epsilon=0.5).fit(x, y)
    assert "4711" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert budget.account.used == 0.5
