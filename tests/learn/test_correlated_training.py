"""DP-FTRL from its price to its weights: what noise leaves, what stays inside, and that it is worth it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.datasets import load_digits
from torch import nn

import sordino as so
from learn.worlds import account, divided, model
from sordino.accounting.events import Correlated, Declared, Repeated
from sordino.errors import ArgumentError
from sordino.learn.descent.correlated_sum import CorrelatedMean
from sordino.learn.descent.noise_ahead import NoiseAhead
from sordino.learn.descent.train import train
from sordino.learn.descent.training import Training
from sordino.learn.run.checkpoint import Checkpoint
from sordino.learn.run.correlation import InBlocks, banded
from sordino.learn.run.examples import examples
from sordino.learn.run.paying import InTranches
from sordino.learn.run.plan import Recipe
from sordino.learn.run.sampling import OverBands, Separated

LOSS = nn.CrossEntropyLoss()
COLUMN = (4, 2, 1)


def recipe(parameters: int, steps: int = 6) -> Recipe:
    return Recipe(
        "marks",
        so.ROW,
        Separated(100, 400),
        steps,
        InTranches(steps),
        parameters,
        Fraction(1),
        Fraction(1, 1000),
        Fraction(2),
        "m",
        correlation=InBlocks(COLUMN, steps),
    )


def decoded(given: Recipe, totals: list[torch.Tensor]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the noisy sums of the steps of a block, a row each."""
    found = []
    with NoiseAhead(given.mechanism.law, given.parameters) as ahead:
        noisy = CorrelatedMean(given, ahead)
        for within, total in enumerate(totals):
            mean = noisy.release(total, given.whole().grant_of_step(), within)
            found.append(mean.double().numpy() * given.sampler.batch)
    return np.array(found)


def strategy(steps: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return sum(each * np.eye(steps, k=-lag) for lag, each in enumerate(COLUMN))  # type: ignore[return-value]


def test_decoded_noise_has_the_covariance_of_the_strategy() -> None:
    given = recipe(20_000)
    noise = decoded(given, [torch.zeros(20_000)] * 6)
    gain = int(given.correlation.gain(given.sampler))
    deviation = 2 * gain**0.5 * float(given.bound.l2_squared) ** 0.5
    inverse = np.linalg.inv(strategy(6))
    claimed = inverse @ inverse.T * deviation**2
    error = np.cov(noise) / np.sqrt(np.outer(claimed.diagonal(), claimed.diagonal()))
    assert np.abs(error - claimed / np.sqrt(np.outer(claimed.diagonal(), claimed.diagonal()))).max() < 0.06
    white = strategy(6) @ noise / deviation
    for row in white:
        assert stats.kstest(row, "norm").pvalue > 1e-5
        for wrong in (0.7, 1.3):
            assert stats.kstest(row / wrong, "norm").pvalue < 1e-9
    assert np.abs(np.corrcoef(white) - np.eye(6)).max() < 0.05
    assert np.corrcoef(noise)[0, 1] < -0.3  # it cancels


def test_what_leaves_is_decoded_from_whole_numbers_alone() -> None:
    """C·x̂ is on the grid whatever the sums were: the support of what leaves says nothing about them."""
    given = recipe(50)
    dice = np.random.default_rng(5)
    totals = [torch.from_numpy(dice.normal(size=50) * 0.37).float() for _ in range(6)]
    steps = strategy(6) @ decoded(given, totals) * 2.0**-given.mechanism.grid.exponent
    assert np.abs(steps - np.rint(steps)).max() < 0.1


def test_without_noise_the_sums_come_back_and_a_new_block_knows_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    given = recipe(30)
    dice = np.random.default_rng(6)
    totals = [torch.from_numpy(dice.normal(size=30)).float() for _ in range(6)]
    with NoiseAhead(given.mechanism.law, 30) as ahead:
        monkeypatch.setattr(ahead, "take", lambda: np.zeros(30, dtype=np.int64))
        noisy = CorrelatedMean(given, ahead)
        for within in (0, 1, 2, 3, 0, 1):
            mean = noisy.release(totals[within], given.whole().grant_of_step(), within) * given.sampler.batch
            assert torch.allclose(mean, totals[within], atol=2.0**given.mechanism.grid.exponent)
            assert len(noisy._past) == min(within + 1, 2)


def test_the_best_attack_on_a_block_reaches_what_is_charged_for_and_no_more() -> None:
    """A unit that adds a whole clip to one number in each of its steps, against all that was released, weighed best.

    Each of the numbers is a game of its own, so there are as many games as parameters. Noise is that of the recipe.
    """
    games, steps = 40_000, 8
    given = recipe(games, steps)
    comes = np.arange(steps) % given.sampler.least == 0
    seen = decoded(given, [torch.full((games,), float(each)) for each in comes])
    weights = strategy(steps) @ comes
    deviation = 2 * int(given.correlation.gain(given.sampler)) ** 0.5 * float(given.bound.l2_squared) ** 0.5
    scores = weights @ (strategy(steps) @ seen) / (deviation * np.sqrt(weights @ weights))
    claimed = 1 / 2  # one over the multiplier
    assert claimed * 0.98 < scores.mean() + 4 / games**0.5
    assert scores.mean() - 4 / games**0.5 < claimed
    assert scores.mean() > 0.9 * claimed


def test_absurd_sums_stay_within_the_numbers_there_are() -> None:
    given = recipe(3)
    wild = torch.tensor([float("nan"), float("inf"), -1e30])
    assert np.isfinite(decoded(given, [wild] * 6)).all()


def words(**more: Any) -> dict[str, Any]:
    return {"batch": 40, "clip": 1, "epochs": 2, "epsilon": 2} | more


@pytest.mark.parametrize("sampling", ["poisson", "separated"])
@pytest.mark.parametrize("pay", ["tranches", "whole"])
def test_a_training_with_correlated_noise_is_one_event(sampling: str, pay: str) -> None:
    given = divided(2000)
    data = account(given, so.budget(epsilon=2, delta="1e-5"))
    run = train(
        model(), LOSS, given, budget=data, sampling=sampling, pay=pay, correlation=banded(4), **words(batch=100)
    )
    (entry,) = data.history
    event = entry.event.event if isinstance(entry.event, Declared) else entry.event
    assert isinstance(event, Correlated if sampling == "separated" else Repeated)
    assert data.account.used > 0.98
    assert [each.steps for each in run.settled] == [40]
    column = json.loads(run.settled[0].to_json())["coefficients"]
    assert len(column) == 4
    assert column == list(run.recipe.correlation.column)


@pytest.mark.parametrize(
    "said",
    [
        {"sampling": "separated", "correlation": banded(4), "tranche": 10},
        {"correlation": banded(4), "pay": "whole"},
        {"clipping": "adaptive", "pay": "whole"},
    ],
)
def test_a_ledger_charges_it_and_verifies(tmp_path: Path, said: dict[str, Any]) -> None:
    given = divided()
    with so.open(tmp_path / "budget.db") as house:
        data = house.account(given, so.budget(epsilon=2, delta="1e-5"))
        run = train(model(), LOSS, given, budget=data, **words(**said))
        assert house.verify().sound
        assert run.receipt is not None
        assert data.account.used == pytest.approx(1, abs=0.02)  # ε given is ε spent
        assert all(len(each.to_json()) < 1500 for each in run.settled)


def test_a_person_with_many_examples_is_one_unit_here_too() -> None:
    x = np.tile(np.array([[3.0, -2, 5, 1]], np.float32), (300, 1))
    owners = np.repeat(np.arange(60), 5)
    given = examples("marks", x, np.ones(300, np.int64), size=60, unit="user", owners=owners)
    for said in ({"sampling": "separated", "correlation": banded(3)}, {"clipping": "adaptive"}):
        run = train(model(), LOSS, given, budget=account(given), **words(batch=20, **said))
        assert run.settled[0].plan.bound.unit == so.Unit("user")
        assert run.settled[-1].plan.recipe.steps == 6


def test_bands_are_found_for_the_least_error() -> None:
    given = divided(2000)
    said = words(batch=100, epochs=1)
    found = Training(model(), LOSS, given, budget=account(given), sampling="separated", correlation=banded(), **said)
    assert len(found.recipe.correlation.column) >= 16
    amplified = Training(model(), LOSS, given, budget=account(given), correlation=banded(), **said)
    assert isinstance(amplified.recipe.sampler, OverBands)
    assert amplified.recipe.sampler.bands == len(amplified.recipe.correlation.column)


def test_a_training_is_cut_where_blocks_end_and_goes_on_there(tmp_path: Path) -> None:
    given, path = divided(), tmp_path / "run.npz"
    data = account(given)
    said = words(budget=data, sampling="separated", correlation=banded(4), tranche=10, checkpoint=path)
    first = Training(model(), LOSS, given, **said)
    with first as steps:
        for step in steps:
            step.gradient()
            if step.number == 9:
                break
    again = Training(model(), LOSS, given, **said)
    with again as steps:
        assert again.step == 10
        for step in steps:
            step.gradient()
    assert [(each.plan.first, each.steps) for each in again.settled] == [(10, 10)]
    assert len(data.history) == 2


def test_nothing_of_the_past_sums_is_kept_in_a_file(tmp_path: Path) -> None:
    given, path = divided(), tmp_path / "run.npz"
    training = Training(
        model(),
        LOSS,
        given,
        budget=account(given),
        sampling="separated",
        correlation=banded(4),
        checkpoint=path,
        **words(),
    )
    with training as steps:
        for step in steps:
            step.gradient()
            if step.number == 6:
                break
    found = Checkpoint.load(path, training.recipe.identity)
    assert found is not None
    assert set(found.arrays) == {f"0/{name}" for name, _ in model().named_parameters()}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run.npz"]


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"sampling": "one-pass"}, 'sampling="separated"'),
        ({"sampling": "fixed-size"}, "separated"),
        ({"correlation": banded(21)}, "must not exceed the 20 steps"),
        ({"correlation": banded(11), "sampling": "poisson"}, "fewer bands"),
        ({"correlation": 4}, "banded"),
        ({"correlation": banded(), "sampling": "poisson", "epsilon": None, "noise": 2}, "say epsilon="),
        ({"tranche": 7}, "multiple of 10"),
        ({"clipping": "adaptive"}, "independent noise"),
    ],
)
def test_bad_words_are_refused_before_anything_is_charged(said: dict[str, Any], match: str) -> None:
    given = divided()
    data = account(given)
    with pytest.raises(ArgumentError, match=match):
        train(
            model(),
            LOSS,
            given,
            **({"budget": data, "sampling": "separated", "correlation": banded(4)} | words() | said),
        )
    assert data.history == ()


def test_one_pass_with_correlated_noise_is_ahead_of_independent_noise_at_the_same_epsilon() -> None:
    """Where samples are not hidden (one pass, no amplification): less error by forecast, and better weights."""
    x, y = load_digits(return_X_y=True)
    dice = np.random.default_rng(2)
    order = dice.permutation(len(x))
    x, y = (x[order] / 16).astype(np.float32), y[order].astype(np.int64)
    public = torch.from_numpy(x[1500:]), torch.from_numpy(y[1500:])
    given = examples("digits", x[:1500], y[:1500], size=1500)
    right: dict[str, list[float]] = {"independent": [], "correlated": []}
    multipliers = set()
    for name, correlation in (("independent", None), ("correlated", banded())):
        for _ in range(4):
            torch.manual_seed(0)
            run = train(
                nn.Linear(64, 10),
                LOSS,
                given,
                budget=account(given, so.budget(epsilon=1, delta="1e-5")),
                batch=25,
                clip=1,
                epochs=1,
                epsilon=1,
                sampling="separated",
                correlation=correlation,
                optimizer=lambda parameters: torch.optim.SGD(parameters, lr=1),
            )
            multipliers.add(run.recipe.multiplier)
            with torch.no_grad():
                right[name].append(float((run.model(public[0]).argmax(1) == public[1]).double().mean()))
    assert len({float(each) for each in multipliers}) == 1  # both are one Gaussian of one multiplier
    assert np.mean(right["correlated"]) > np.mean(right["independent"]) + 0.05
