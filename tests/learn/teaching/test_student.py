"""Students: labels spread to what lies beside; and labels that are declared whole cost what is proven for them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special
from sklearn.datasets import load_digits

import sordino as so
from learn.worlds import divided
from sordino.errors import ArgumentError, BudgetError
from sordino.learn.teaching.plan import Labels

X, Y = load_digits(return_X_y=True)


def some_labels(count: int, wrong: float = 0.0) -> np.ndarray:
    dice = np.random.default_rng(5)
    labels = np.full(len(Y), -1)
    labels[:count] = np.where(dice.random(count) < wrong, dice.integers(10, size=count), Y[:count])
    return labels


def test_a_student_learns_from_what_has_no_label() -> None:
    student = so.learn.student(X[:1500], some_labels(100)[:1500], classes=10)
    alone = so.learn.student(X[:100], Y[:100], classes=10)
    better, worse = ((each.predict(X[1500:]) == Y[1500:]).mean() for each in (student, alone))
    assert better > worse + 0.02
    assert better > 0.8


def test_wrong_labels_are_outvoted() -> None:
    given = some_labels(300, wrong=0.15)
    student = so.learn.student(X, given, classes=10)
    before, after = (float((each[:300] == Y[:300]).mean()) for each in (given, student.labels))
    assert before < 0.9
    assert after > before + 0.03


def test_what_lies_alone_or_twice_still_gets_a_label() -> None:
    rows = np.zeros((30, 2))
    rows[20:] = 1e6
    labels = np.full(30, -1)
    labels[[0, 25]] = 0, 1
    student = so.learn.student(rows, Labels(labels), classes=3, nearest=4)
    assert student.labels.tolist() == [0] * 20 + [1] * 10


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (X[:20], Y[:19]),
        (X[:20], Y[:20].astype(float)),
        (X[:20], np.full(20, -1)),
        (X[:20], np.full(20, 10)),
        (X[:5], Y[:5]),
        (np.full((20, 2), np.nan), Y[:20]),
    ],
)
def test_what_cannot_be_learned_from_is_refused(rows: np.ndarray, labels: np.ndarray) -> None:
    with pytest.raises(ArgumentError):
        so.learn.student(rows, labels, classes=10)


def fit(_: Any) -> Any:
    return lambda asked: asked[:, 0] > 0


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return ε of a Gaussian mechanism by Balle and Wang 2018, Theorem 8, apart from anything of the house."""

    def above(epsilon: float) -> float:
        near, far = (special.log_ndtr(sign * mu / 2 - epsilon / mu) for sign in (1, -1))
        return float(np.exp(near) - np.exp(epsilon + far) - delta)

    return float(optimize.brentq(above, 0, 100))


def test_labels_that_are_declared_cost_what_one_gaussian_of_all_answers_costs() -> None:
    marks = divided(1000)
    account = so.account(marks, so.budget(epsilon=3, delta="1e-5", own_delta_share=1))
    taught = so.learn.teachers(
        marks, count=250, classes=10, fit=lambda _: lambda asked: asked[:, 0] > 0, budget=account
    )
    exact = gaussian_epsilon(math.sqrt(400 * 2) / 40, 1e-5)
    assert exact == pytest.approx(2.944, abs=0.002)
    with pytest.raises(BudgetError):  # a filter takes more for the same noise
        taught.label(np.ones((400, 4)), sigma=40)
    labels = taught.label(np.ones((400, 4)), sigma=40, delta="1e-5").labels
    assert (labels == 1).mean() > 0.99
    spent, failure = account.account.spent_as(0)
    assert exact <= float(spent) <= exact * 1.001
    assert failure == pytest.approx(1e-5)


def test_a_delta_that_the_account_does_not_hold_is_refused_before_anything_is_charged() -> None:
    marks = divided(100)
    account = so.account(marks, so.budget(epsilon=3, delta="1e-5"))
    taught = so.learn.teachers(marks, count=10, classes=2, fit=fit, budget=account)
    with pytest.raises(ArgumentError, match="own_delta_share"):
        taught.label(np.ones((4, 4)), sigma=4, delta="1e-5")
    assert not account.history
