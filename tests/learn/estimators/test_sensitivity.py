"""No row moves a sum by more than its plan says, by brute force: every row left out or replaced, however extreme."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from learn.estimators.every import NAMES, VANISHING, account, estimator, rows
from sordino.accounting.neighbours import Neighbours
from sordino.learn.estimators import finding, private, whole_rows
from sordino.learn.estimators.plan import EstimatorPlan
from sordino.learn.estimators.releases import Releases, additive

Steps = list[tuple[str, NDArray[np.int64]]]
EXTREMES = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0, 1.0, -1.0, 0.999999999]


class Heard(Releases):
    """Releases that are written down; a second run is answered as the first was, whatever its data is."""

    plans: list[EstimatorPlan]
    steps: Steps
    answers: list[NDArray[np.float64]]
    again: bool

    def noisy(self, name: str, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        type(self).plans = [self.plan]
        self.steps.append((name, np.array(steps)))
        if not self.again:
            self.answers.append(super().noisy(name, steps))
        return self.answers[len(self.steps) - 1]


@contextmanager
def hearing(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Heard]]:
    """Let every fit go through a fresh `Heard`."""
    heard = type("HeardHere", (Heard,), {"plans": [], "steps": [], "answers": [], "again": False})
    with monkeypatch.context() as patched:
        patched.setattr(private, "Releases", heard)
        yield heard


def steps_of(heard: type[Heard], name: str, x: Any, y: Any, neighbours: Neighbours, words: dict[str, Any]) -> Steps:
    heard.steps = []
    estimator(name, account(neighbours=neighbours), epsilon=1, **words).fit(x, y)
    heard.again = True
    return heard.steps


def assert_within(heard: type[Heard], one: Steps, other: Steps) -> None:
    (plan,) = heard.plans
    bounds = {each.name: additive(each).grid.sensitivity(each.bound) for each in plan.sums}
    assert [name for name, _ in one] == [name for name, _ in other]
    for (name, before), (_, after) in zip(one, other, strict=True):
        moved = np.abs((before - after).astype(object)).ravel()
        bound = bounds[name]
        assert np.count_nonzero(moved) <= bound.l0, name
        assert int(moved.sum()) <= bound.l1, name
        assert int((moved**2).sum()) <= bound.l2_squared, name
        assert int(moved.max(initial=0)) <= bound.linf, name


def extreme_rows() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    x, y = rows(5)
    pairs = [(one, other) for one in EXTREMES for other in (EXTREMES[0], 1e308)]
    return np.vstack([x, pairs]), np.concatenate([y, np.arange(len(pairs)) % 3])  # 2 is no class


@pytest.mark.parametrize("name", NAMES)
def test_a_row_that_leaves_moves_no_sum_by_more_than_claimed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = extreme_rows()
    with hearing(monkeypatch) as heard:
        whole = steps_of(heard, name, x, y, Neighbours.ADD_REMOVE, {})
        for out in range(len(x)):
            others = steps_of(heard, name, np.delete(x, out, 0), np.delete(y, out), Neighbours.ADD_REMOVE, {})
            assert_within(heard, whole, others)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_that_is_replaced_moves_no_sum_by_more_than_claimed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows(7)
    with hearing(monkeypatch) as heard:
        whole = steps_of(heard, name, x, y, Neighbours.REPLACE_ONE, {})
        for place, value in enumerate(EXTREMES):
            x_other, y_other = x.copy(), y.copy()
            x_other[place % len(x)], y_other[place % len(x)] = value, 1 - y[place % len(x)]
            assert_within(heard, whole, steps_of(heard, name, x_other, y_other, Neighbours.REPLACE_ONE, {}))


@pytest.mark.parametrize("name", ["GaussianNB", "LogisticRegression", "LinearRegression", "KMeans", "PCA"])
def test_what_finds_bounds_moves_by_one_row_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = extreme_rows()
    unsaid = {"LogisticRegression": {"data_norm": None}, "LinearRegression": {"bounds_X": None}}
    with hearing(monkeypatch) as heard:
        words = unsaid.get(name, {"bounds": None})
        whole = steps_of(heard, name, x, y, Neighbours.ADD_REMOVE, words)
        assert whole[0][0] in ("bounds", "norm")
        for out in range(len(x)):
            others = steps_of(heard, name, np.delete(x, out, 0), np.delete(y, out), Neighbours.ADD_REMOVE, words)
            assert_within(heard, whole, others)


def test_several_classes_move_gradients_by_no_more_than_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = extreme_rows()
    for name in ("LogisticRegression", "ExplainableBoostingClassifier"):
        with hearing(monkeypatch) as heard:
            words = {"classes": (0, 1, 2, 3)}
            whole = steps_of(heard, name, x, y, Neighbours.ADD_REMOVE, words)
            for out in range(0, len(x), 3):
                others = steps_of(heard, name, np.delete(x, out, 0), np.delete(y, out), Neighbours.ADD_REMOVE, words)
                assert_within(heard, whole, others)


def test_equal_labels_are_one_class_whose_name_no_row_chooses() -> None:
    plain = [0, 1] * 50
    for spelled in (True, 1.0, np.float64(1)):
        labels = np.array([spelled, *plain], dtype=object)
        fitted = estimator("LogisticRegression", account(), epsilon=VANISHING, classes=None).fit(rows(101)[0], labels)
        assert [(type(each), each) for each in fitted.classes_.tolist()] == [(int, 0), (int, 1)]


@pytest.mark.parametrize("odd", ["x", 0.5, None, b"1", [1], 10**400], ids=str)
@pytest.mark.parametrize("classes", [None, (0, 1)])
def test_one_label_of_another_type_changes_nobody_elses(odd: Any, classes: Any) -> None:
    """NumPy would make texts, or floats, of all labels of the list."""
    x, y = rows(200)
    labels: list[Any] = (np.asarray(y) % 2).tolist()
    labels[7] = odd
    words = {"epsilon": VANISHING, "score_epsilon": VANISHING, "classes": classes}
    fitted = estimator("LogisticRegression", account(), **words).fit(x, labels)
    left_out = np.arange(200) != 7
    other = estimator("LogisticRegression", account(), **words).fit(x[left_out], (y % 2)[left_out])
    assert set(other.classes_.tolist()) <= set(fitted.classes_.tolist())
    right = np.sum(fitted.predict(x)[left_out] == (y % 2)[left_out])
    assert fitted.score(x, labels) == pytest.approx(right / 200, abs=1.01 / 200)


def test_a_cell_that_is_no_number_is_not_printed() -> None:
    x, y = rows(20)
    cells = x.astype(object)
    for odd in ("Alice 1970", 10**400):
        cells[3, 1] = odd
        for name in ("LogisticRegression", "LinearRegression"):
            with pytest.raises(ValueError, match="must be numbers") as caught:
                estimator(name, account()).fit(cells, y)
            assert "Alice" not in str(caught.value)
            assert caught.value.__context__ is None


def test_the_oracle_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = extreme_rows()
    with hearing(monkeypatch) as heard:
        whole = steps_of(heard, "StandardScaler", x, y, Neighbours.ADD_REMOVE, {})
        fewer = steps_of(heard, "StandardScaler", x[2:], y[2:], Neighbours.ADD_REMOVE, {})
        with pytest.raises(AssertionError):
            assert_within(heard, whole, fewer)


def test_the_longest_rows_are_as_long_as_claimed_and_no_longer() -> None:
    random = np.random.default_rng(1)
    x = random.standard_normal((2000, 7)) * 10.0 ** random.uniform(-300, 300, (2000, 1))
    squares = (whole_rows.within_norm(x, 0.1).astype(object) ** 2).sum(axis=1)
    assert max(squares) <= whole_rows.ONE**2
    assert np.median(squares[np.abs(x).max(axis=1) > 1]) > 0.999 * whole_rows.ONE**2  # shortened, not thrown away


def test_a_row_is_the_same_wherever_it_stands() -> None:
    x, _ = rows(501, columns=9)
    together = whole_rows.within_norm(x, 0.7), whole_rows.weighted(x, x[:3]), finding._lengths(x)
    for place in (0, 7, 500):
        alone = (
            whole_rows.within_norm(x[place : place + 1], 0.7),
            whole_rows.weighted(x[place : place + 1], x[:3]),
            finding._lengths(x[place : place + 1]),
        )
        for all_of_them, one in zip(together, alone, strict=True):
            np.testing.assert_array_equal(all_of_them[place], one[0])


def test_sums_of_whole_rows_are_exact() -> None:
    random = np.random.default_rng(2)
    z = random.integers(-whole_rows.ONE, whole_rows.ONE + 1, (3000, 4)).astype(np.float64)
    exact = z.astype(object).T @ z.astype(object)
    np.testing.assert_array_equal(whole_rows.gram(z), exact.astype(np.int64))
    np.testing.assert_array_equal(whole_rows.gram(z[::-1]), exact.astype(np.int64))


def test_a_plan_releases_each_sum_as_often_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows(20)
    for name in NAMES:
        with hearing(monkeypatch) as heard:
            counted: dict[str, int] = {}
            for each, _ in steps_of(heard, name, x, y, Neighbours.ADD_REMOVE, {}):
                counted[each] = counted.get(each, 0) + 1
            assert counted == {each.name: each.times for each in heard.plans[0].sums}, name


def test_a_plan_that_runs_otherwise_has_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows(20)
    with hearing(monkeypatch) as heard:
        steps_of(heard, "GaussianNB", x, y, Neighbours.ADD_REMOVE, {})
        plan = heard.plans[0]
    assert plan.digest() == replace(plan).digest()
    assert plan.digest() != replace(plan, estimator="KMeans").digest()
    assert plan.digest() != replace(plan, words={**plan.words, "bounds": None}).digest()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_settled_tells_models_apart(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows(60)
    settled: list[str] = []
    keep = private.PrivateEstimator._keep

    def spied(model: Any, fitted: Any) -> Any:
        settled.append(fitted.to_json())
        return keep(model, fitted)

    monkeypatch.setattr(private.PrivateEstimator, "_keep", spied)
    for _ in range(2):
        estimator(name, account(), epsilon=1).fit(x, y)
    assert len(set(settled)) == 2  # fresh noise, another model, another digest
