"""A search for settings: what it costs, what it shows, and that nobody learns how many trials there were."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import special, stats
from torch import nn

import sordino as so
from learn.worlds import BUDGET, account, divided
from sordino.accounting import renyi
from sordino.accounting.events import Searched
from sordino.errors import ArgumentError, BudgetError, GrantError, RunError
from sordino.learn.descent.search import Search
from sordino.learn.run.examples import Examples
from sordino.learn.run.sampling import FixedSize, OnePass, Poisson
from sordino.learn.run.score import ScorePlan
from sordino.learn.run.search import Pace, TrialAccount, candidates_of, dominating
from sordino.learn.run.trials import trials_of

SPACE = {"rate": [0.0, 1.0]}
WORDS: dict[str, Any] = {"batch": 100, "clip": 1, "steps": 4, "trials": 3, "score_epsilon": "0.5"}


def made(_: Any) -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))


def rated(settings: Any, parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=settings["rate"])


def searching(given: Examples, data: Any, space: Any = SPACE, **words: Any) -> Search:
    told = {"epsilon": 3, "optimizer": rated} | WORDS | words
    return Search(space, given, model=made, loss=nn.CrossEntropyLoss(), budget=data, **told)


def test_the_best_settings_are_found_and_one_entry_is_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = divided(2000)
    with so.open(tmp_path / "budget.db") as house:
        data = house.account(given, BUDGET)
        search = searching(given, data, batch=400, steps=6, score_epsilon="0.3")
        monkeypatch.setattr(search.plan.trials.__class__, "draw", lambda _: 14)  # all at rate 0: a chance of 2⁻¹⁴
        found = search.run()
        assert found.settings == {"rate": 1.0}
        assert found.score.accuracy > 0.8
        assert len(data.history) == 1
        assert house.verify().sound
    told = json.loads(found.to_json())
    assert set(told) == {"settings", "score", "weights", "trials", "noise multiplier", "candidates"}
    assert found.receipt is not None


def test_what_is_given_is_what_the_whole_search_costs() -> None:
    given = divided()
    for law in ("geometric", "logarithmic", "poisson"):
        search = searching(given, account(given), law=law, epsilon=2)
        own = so.account(given, so.budget(epsilon=2, delta="1e-5")).price(search.plan)
        assert own.fits
        assert float(own.part or 0) > 0.98
    assert not account(given).history


def _trial_by_hand(order: int, multiplier: float, rate: float, steps: int, epsilon: float) -> float:
    """Rényi divergence of sampled Gaussian steps (Mironov, Talwar, Zhang 2019) and of one Laplace (Mironov 2017)."""
    k = np.arange(order + 1)
    terms = special.gammaln(order + 1) - special.gammaln(k + 1) - special.gammaln(order - k + 1)
    terms = terms + k * math.log(rate) + (order - k) * math.log1p(-rate) + k * (k - 1) / (2 * multiplier**2)
    scored = order / (2 * order - 1) * math.exp((order - 1) * epsilon)
    scored += (order - 1) / (2 * order - 1) * math.exp(-order * epsilon)
    return (steps * float(special.logsumexp(terms)) + math.log(scored)) / (order - 1)


def test_the_price_is_that_of_the_theorem() -> None:
    given = divided()
    search = searching(given, account(given), noise=2, trials=5)
    one = {order: _trial_by_hand(order, 2, 0.25, 4, 0.5) for order in range(2, 400)}
    spread = min((1 - 1 / order) * cost + math.log(5) / order for order, cost in one.items())
    for order in (2, 4, 8, 32):
        by_hand = min(one[up] + 2 * spread + math.log(5) / (up - 1) for up in range(order, 400))
        ours = float(renyi.curve(search.plan.event(), np.array([float(order)]))[0])
        assert ours == pytest.approx(by_hand, rel=0.01)


def test_the_dearest_course_costs_at_least_what_each_costs() -> None:
    paces = [Pace(Poisson(batch, 400), steps) for batch in (10, 40, 100) for steps in (3, 30)]
    worst = dominating(paces)
    assert worst == Pace(Poisson(100, 400), 30)
    orders = np.array([1.5, 2, 8, 64])
    for each in paces:
        assert (renyi.curve(each.event(Fraction(1)), orders) <= renyi.curve(worst.event(Fraction(1)), orders)).all()
    alike = Pace(OnePass(100, 400), 8)
    assert dominating([alike, alike]) == alike
    with pytest.raises(ArgumentError, match="only with sampling='poisson'"):
        dominating([alike, Pace(OnePass(50, 400), 8)])
    with pytest.raises(ArgumentError, match="come and go"):
        dominating([Pace(FixedSize(100, 400), 8)])


@pytest.mark.parametrize("law", ["geometric", pytest.param("logarithmic", marks=pytest.mark.long)])
def test_the_winner_has_the_law_of_the_best(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials score 0, 1 or 2 alike: P[best ≤ y] is the generating function at the chance of y."""
    given = divided()
    search = searching(given, account(given), law=law, trials=4)
    dice = np.random.default_rng(5)

    def trial(_: Any) -> Any:
        return SimpleNamespace(score=SimpleNamespace(accuracy=int(dice.integers(3))))

    monkeypatch.setattr(search, "_trial", trial)
    several = iter(search.plan.trials.law.draw(20_000).tolist())  # type: ignore[attr-defined]
    monkeypatch.setattr(search.plan.trials.__class__, "draw", lambda _: next(several))
    shown = [search._best() for _ in range(20_000)]
    stopping = float(search.plan.trials.stopping)  # type: ignore[attr-defined]

    def at_most(chance: float, gamma: float) -> float:
        if law == "geometric":
            return gamma * chance / (1 - (1 - gamma) * chance)
        return math.log(1 - (1 - gamma) * chance) / math.log(gamma)

    counts = np.bincount([int(each.score.accuracy) for each in shown], minlength=3)
    for factor, sound in ((1.0, True), (0.7, False), (1.3, False)):
        levels = [at_most(chance, stopping * factor) for chance in (1 / 3, 2 / 3, 1)]
        p = stats.chisquare(counts, np.diff([0, *levels]) * len(shown)).pvalue
        assert bool(p > 1e-4) is sound, f"n = {len(shown)}, p = {p}"


class Marked(nn.Module):
    """A model that shows which chance it was made by."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 2)
        self.register_buffer("mark", torch.rand(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.linear(x)
        return found


def test_the_seed_of_torch_tells_neither_how_many_trials_there_were_nor_which_one_won(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Trials that began with weights of a known sequence would not be alike, and the theorem is about such."""
    given, told = divided(), {"noise": 4, "loss": nn.CrossEntropyLoss()} | WORDS
    marks, after = [], []
    for trials in (1, 1, 3):
        search = Search(SPACE, given, model=lambda _: Marked(), budget=account(given), **told)
        monkeypatch.setattr(search.plan.trials.__class__, "draw", lambda _, trials=trials: trials)
        torch.manual_seed(5)
        marks.append(float(search.run().model.mark))
        after.append(float(torch.rand(1)))
    assert len(set(marks)) == 3
    assert len(set(after)) == 1


def test_ties_are_broken_by_a_fair_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    given = divided()
    search = searching(given, account(given))
    monkeypatch.setattr(search.plan.trials.__class__, "draw", lambda _: 4)
    scores = itertools.cycle([(0, 0), (1, 1), (1, 2), (1, 3)])

    def trial(_: Any) -> Any:
        score, place = next(scores)
        return SimpleNamespace(score=SimpleNamespace(accuracy=score), place=place)

    monkeypatch.setattr(search, "_trial", trial)
    places = [search._best().place for _ in range(1500)]  # type: ignore[attr-defined]
    assert stats.chisquare(np.bincount(places, minlength=4)[1:]).pvalue > 1e-4
    assert 0 not in places


def test_whoever_comes_or_goes_changes_nothing_but_noise() -> None:
    plans = []
    for gone in (None, 0):
        x = np.delete(np.ones((40, 4), np.float32), gone, 0) if gone is not None else np.ones((40, 4), np.float32)
        x[-1] = np.nan
        given = so.learn.examples("marks", x, np.zeros(len(x), np.int64), size=40)
        data = account(given)
        search = searching(given, data, batch=10, space={"rate": [0.5]})
        found = search.run()
        plans.append(
            (search.plan.digest(), str(search.price()), len(data.history), sorted(json.loads(found.to_json())))
        )
    assert plans[0] == plans[1]


def test_a_trial_runs_its_own_plans_once_and_nothing_else() -> None:
    given = divided()
    score = ScorePlan.of(given, "0.5")
    inner = TrialAccount(given, score.digest())
    inner.begin(score)
    for plan in (score, ScorePlan.of(given, "0.6")):
        with pytest.raises(GrantError, match="nothing else"):
            inner.begin(plan)
    with pytest.raises(GrantError, match="from its beginning"):
        inner.resume("1", score)


def test_trials_that_fail_rank_last_and_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    given = divided()
    data = account(given, so.budget(epsilon=9, delta="1e-5"))
    search = searching(given, data, trials=8)
    taken = search._training
    canary = "4711"

    def breaking(candidate: Any, inner: Any) -> Any:
        if candidate.settings["rate"] == 0.0:
            raise ZeroDivisionError(canary)
        return taken(candidate, inner)

    monkeypatch.setattr(search, "_training", breaking)
    monkeypatch.setattr(search.plan.trials.__class__, "draw", lambda _: 16)
    assert search.run().settings == {"rate": 1.0}
    monkeypatch.setattr(search, "_training", lambda *_: 1 / 0)
    with pytest.raises(RunError, match="found nothing") as error:
        search.run()
    assert error.value.__cause__ is None
    assert len(data.history) == 2


def test_none_is_drawn_now_and_then_and_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    given = divided()
    search = searching(given, account(given), law="poisson")
    monkeypatch.setattr(search.plan.trials.__class__, "draw", lambda _: 0)
    with pytest.raises(RunError, match="found nothing"):
        search.run()


def test_settings_may_be_words_of_the_training() -> None:
    given = divided()
    space = {"rate": [0.5], "batch": [50, 100], "clip": [0.5, 2], "clipping": ["flat", "automatic"]}
    search = searching(given, account(given), space=space)
    assert search.plan.pace == Pace(Poisson(100, 400), 4)
    assert len({each.plan for each in search._candidates}) == 8
    assert search.run().settings["batch"] in (50, 100)


@pytest.mark.parametrize(
    ("space", "words", "said"),
    [
        ({}, {}, "must be a dict"),
        ({"rate": 0.5}, {}, "must be a dict"),
        ({"rate": "abc"}, {}, "must be a dict"),
        ({"rate": []}, {}, "must be a dict"),
        ({"rate": [math.nan]}, {}, "numbers, texts"),
        ({"rate": [object()]}, {}, "numbers, texts"),
        ({"rate": [0.5], "seed": list(range(2000))}, {}, "2000 combinations"),
        (SPACE, {"trials": 1}, "trials"),
        (SPACE, {"trials": 10**6}, "trials"),
        (SPACE, {"law": "always"}, "law"),
        (SPACE, {"batch": None}, "batch=…"),
        (SPACE, {"steps": None}, "epochs=… or steps=…"),
        (SPACE, {"score_epsilon": 0}, "epsilon"),
        (SPACE, {"epsilon": None}, "may spend"),
        (SPACE, {"sampling": "fixed-size"}, "come and go"),
        (SPACE, {"answer_after": -1}, "answer_after"),
    ],
)
def test_bad_searches_are_refused_before_anything_is_charged(space: Any, words: Any, said: str) -> None:
    given = divided()
    data = account(given)
    with pytest.raises(ArgumentError, match=said):
        searching(given, data, space, **words)
    assert not data.history


def test_what_does_not_fit_is_refused_whole() -> None:
    given = divided()
    data = account(given, so.budget(epsilon=1, delta="1e-5"))
    search = searching(given, data, noise=1)
    assert not search.price().fits
    with pytest.raises(BudgetError):
        search.run()
    assert not data.history


def test_other_ways_to_account_are_refused_and_other_relations_cost_more() -> None:
    given = divided()
    for wrong in (so.budget(rho=1), so.budget(epsilon=1)):
        with pytest.raises(ArgumentError, match=r"priced in \(ε, δ\)"):
            searching(given, account(given, wrong))
    staying = divided(neighbours=so.Neighbours.REPLACE_ONE)
    dearer, plain = (searching(each, account(each)) for each in (staying, given))
    assert dearer.plan.multiplier > plain.plan.multiplier
    assert searching(given, account(given), sampling="one-pass").price().fits


def test_the_answer_may_wait_for_a_public_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("sordino.learn.descent.search.sleep", slept.append)  # here alone: other threads sleep, too
    given = divided()
    search = searching(given, account(given, so.budget(epsilon=9, delta="1e-5")), answer_after=1000)
    search.run()
    assert 900 < slept[-1] <= 1000
    monkeypatch.setattr(search, "_best", lambda: 1 / 0)
    with pytest.raises(RunError):
        search.run()
    assert 900 < slept[-1] <= 1000
    assert len(slept) == 2


def test_laws_have_the_mean_that_was_asked_for() -> None:
    geometric = trials_of("geometric", 8)
    assert geometric.event(ScorePlan.of(divided(), 1).event()) == Searched(
        ScorePlan.of(divided(), 1).event(), Fraction(1, 8), 1
    )
    drawn = [trials_of("logarithmic", 8).draw() for _ in range(1500)]
    assert np.mean(drawn) == pytest.approx(8, rel=0.2)
    assert min(drawn) == 1
    assert candidates_of({"a": [1, 2], "b": ["x"]}) == [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}]
    assert replace(geometric, shape=Fraction(0)).name == "logarithmic"  # type: ignore[type-var]
