"""Teachers and private predictions: votes of disjoint parts, charged first, and answers that run out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sordino as so
from learn.worlds import BUDGET, account, divided
from sordino.accounting.accountants import epsilon
from sordino.accounting.events import Composed, Gaussian, Repeated
from sordino.errors import ArgumentError, BudgetError
from sordino.learn.prediction.predictions import predictions
from sordino.learn.run.examples import People
from sordino.learn.run.rows import Batch
from sordino.learn.run.voting import Ensemble
from sordino.learn.teaching.ensemble import teachers

ASKED = np.array([[2.0, 0, 0, 0], [-2.0, 0, 0, 0], [3.0, 1, 1, 1]], np.float32)


def fit(part: Batch) -> Any:
    x, y = part
    ahead = x[y == 1, 0].mean() > x[y == 0, 0].mean()
    return lambda asked: (asked[:, 0] > 0) == ahead


def count_calls(calls: list[int]) -> Any:
    def counted(part: Batch) -> Any:
        calls.append(len(part[0]))
        return fit(part)

    return counted


def test_parts_are_disjoint_and_drawn_by_each_unit() -> None:
    sizes: list[int] = []
    votes = Ensemble(divided(1000), 20, 2, count_calls(sizes)).votes(ASKED)
    assert sum(sizes) == 1000
    assert len(set(sizes)) > 3
    assert votes.tolist() == [[0, 20], [20, 0], [0, 20]]


def test_one_unit_changes_one_vote_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = np.random.default_rng(2).integers(8, size=60)
    monkeypatch.setattr("sordino.learn.run.voting.noise.uniform", lambda _, units: parts[:units])
    whole, less = (Ensemble(divided(60, size=60), 8, 2, fit), Ensemble(divided(60, size=60), 8, 2, fit))
    people = less._examples.people()
    without = People(people.rows, people.order[:-1], people.starts[:-1])
    object.__setattr__(less._examples, "people", lambda: without)
    moved = whole.votes(ASKED) - less.votes(ASKED)
    assert (np.square(moved).sum(1) <= 2).all()


@pytest.mark.parametrize("broken", ["fit", "ask", "shape", "class"])
def test_a_part_that_fails_abstains(broken: str) -> None:
    calls: list[int] = []

    def sometimes(part: Batch) -> Any:
        calls.append(1)
        if len(calls) > 3:
            return fit(part)
        if broken == "fit":
            raise ValueError("patient 4711")
        answers: dict[str, Any] = {"shape": np.zeros(7), "class": np.array([9, np.nan, -1])}
        return (lambda _: answers[broken]) if broken in answers else (lambda _: 1 / 0)

    assert Ensemble(divided(), 10, 2, sometimes).votes(ASKED).tolist() == [[0, 7], [7, 0], [0, 7]]


def test_teachers_label_and_are_charged_before_they_are_fitted() -> None:
    given, sizes = divided(2000), []
    data = account(given)
    ensemble = teachers(given, count=40, classes=2, fit=count_calls(sizes), budget=data)
    priced = ensemble.price(3, sigma=4)
    assert (sizes, data.history) == ([], ())
    labels = ensemble.label(ASKED, sigma=4)
    assert labels.labels.tolist() == [1, 0, 1]
    assert data.history[0].event == Repeated(Gaussian(16, 2), 3)
    assert priced.charge == data.history[0].charge
    ensemble.label(ASKED[:1], sigma=4)
    assert len(sizes) == 40  # fitted once
    with pytest.raises(BudgetError):
        teachers(given, count=40, classes=2, fit=fit, budget=account(given)).label(ASKED, sigma="0.1")


def test_four_hundred_answers_cost_what_is_known() -> None:
    assert epsilon(Repeated(Gaussian(1600, 2), 400), "1e-5") == pytest.approx(2.94, abs=0.005)


def test_confident_answers_pay_a_check_for_everything_asked() -> None:
    given = divided(2000)
    data = account(given)
    ensemble = teachers(given, count=40, classes=2, fit=fit, budget=data)
    words: dict[str, Any] = {"sigma": 4, "check_sigma": 8}
    assert ensemble.label(ASKED, answers=1, threshold=-100, **words).answered.tolist() == [True, False, False]
    assert data.history[0].event == Composed((Repeated(Gaussian(64), 3), Repeated(Gaussian(16, 2), 1)))
    assert ensemble.label(ASKED, answers=1, threshold=200, **words).labels.tolist() == [-1, -1, -1]
    assert len(data.history) == 2
    with pytest.raises(ArgumentError, match="both"):
        ensemble.label(ASKED, sigma=4, threshold=3)
    with pytest.raises(ArgumentError, match="nothing"):
        ensemble.label(ASKED[:0], sigma=4)


@pytest.mark.parametrize("budget", [BUDGET, so.budget(epsilon=30), so.budget(rho=2)], ids=["delta", "pure", "rho"])
def test_predictions_are_charged_whole_and_run_out(budget: so.Budget) -> None:
    given = divided(2000)
    data = account(given, budget)
    spend = {"rho": 1} if budget.rho else {"epsilon": 3 if budget.delta else 20}
    service = predictions(given, parts=50, classes=2, fit=fit, answers=4, budget=data, **spend)
    used = data.account.used  # type: ignore[attr-defined]
    assert service.predict(ASKED).tolist() == [1, 0, 1]
    with pytest.raises(BudgetError, match="1 of 4 are left"):
        service.predict(ASKED)
    assert service.predict(ASKED[:1]).tolist() == [1]
    assert service.left == 0
    assert data.account.used == used  # type: ignore[attr-defined]
    service.close()


def test_predictions_go_on_after_a_restart(tmp_path: Path) -> None:
    given = divided(2000)
    words: dict[str, Any] = {"parts": 50, "classes": 2, "fit": fit, "answers": 5, "epsilon": 3}
    with so.open(tmp_path / "budget.db") as house:
        service = predictions(given, budget=house.account(given, BUDGET), **words)
        service.predict(ASKED)
        known = service.id
    with so.open(tmp_path / "budget.db") as house:
        data = house.account(given)
        with predictions(given, budget=data, resume=known, **words) as again:
            assert again.left == 2
            again.predict(ASKED[:2])
        assert len(data.history) == 1
        assert house.verify().sound


def test_threads_and_processes_never_get_each_others_answers(tmp_path: Path) -> None:
    given = divided(2000)
    words: dict[str, Any] = {"parts": 50, "classes": 2, "fit": fit, "answers": 60, "epsilon": 30}
    with so.open(tmp_path / "budget.db") as house:
        data = house.account(given, so.budget(epsilon=40, delta="1e-5"))
        service = predictions(given, budget=data, **words)
        other = predictions(given, budget=data, resume=service.id, **words)  # as another process would
        things = [(who, sign, number) for number in range(10) for who in (0, 1) for sign in (1, -1)]
        asked = [((service, other)[who], [[sign * (2 + number), who, 0, 0]], sign > 0) for who, sign, number in things]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda one: int(one[0].predict(one[1])[0]), asked))
        assert found == [wanted for _, _, wanted in asked]
        assert max(service._given, other._given) == len(asked)
