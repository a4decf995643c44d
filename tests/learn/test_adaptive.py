"""A clip that follows the norms: what a step of it costs, what one unit moves, what noise it has, and where it goes."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

import sordino as so
from learn.worlds import account, divided, model
from sordino.accounting.events import Gaussian, PoissonSampled, Repeated
from sordino.errors import ArgumentError
from sordino.learn.descent.training import Training
from sordino.learn.run.adaptive import REACH, adaptive
from sordino.learn.run.correlation import banded
from sordino.learn.run.examples import Examples, examples

LOSS = nn.CrossEntropyLoss()


def training(given: Examples, trained: nn.Module | None = None, **words: Any) -> Training:
    base: dict[str, Any] = {"budget": account(given), "batch": 40, "steps": 4, "clip": 1, "epsilon": 2}
    return Training(trained or model(), LOSS, given, **(base | {"clipping": "adaptive"} | words))


def clips(run: Training, rate: float = 0.0) -> list[float]:
    optimizer = torch.optim.SGD(run.model.parameters(), lr=rate)
    found = [run.clip]
    with run as steps:
        for step in steps:
            step.gradient()
            optimizer.step()
            found.append(run.clip)
    return found


def nobody() -> Examples:
    return examples("marks", np.zeros((0, 4), np.float32), np.zeros(0, np.int64), size=400)


@pytest.mark.parametrize("relation", list(so.Neighbours)[:2])
@pytest.mark.parametrize("noise", [None, 9])
def test_sum_and_count_cost_together_what_the_step_is_charged_for(relation: so.Neighbours, noise: int | None) -> None:
    way = "fixed-size" if relation is so.Neighbours.REPLACE_ONE else "poisson"
    given = divided(neighbours=relation)
    words = {"epsilon": None, "noise": 3, "sampling": way}
    recipe = training(given, clipping=adaptive(noise=noise), **words).recipe
    assert recipe.radius is not None
    moved = 2 if relation is so.Neighbours.REPLACE_ONE else 1
    in_steps = recipe.mechanism.grid.sensitivity(recipe.bound).l2_squared
    of_sum = Fraction(in_steps) / recipe.mechanism.law.sigma_squared
    of_count = Fraction(moved**2) / recipe.radius.variance
    assert of_sum + of_count == Fraction(1, 9)
    assert recipe.step == Gaussian(9)  # type: ignore[arg-type]
    assert of_count > 0
    assert float(recipe.bound.l2_squared) == pytest.approx(moved**2, rel=5e-3)  # in clips, whatever the clip


def test_it_is_charged_like_a_clip_that_stays() -> None:
    given = divided()
    following, staying = (training(given, clipping=kind) for kind in ("adaptive", "flat"))
    assert following.recipe.multiplier == staying.recipe.multiplier
    assert following.recipe.whole().event() == Repeated(
        PoissonSampled(Gaussian(following.recipe.multiplier**2), Fraction(1, 10)), 4
    )
    assert following.price() == staying.price()
    assert following.recipe.identity != staying.recipe.identity


@pytest.mark.parametrize("clip", ["0.001", "0.3", "1000"])
def test_one_unit_moves_sum_and_count_by_no_more_than_the_bound(clip: str) -> None:
    given = divided(40)
    run = training(given, clip=clip, batch=40)
    run._sums.measure_in(run.clip)
    (x, y), _ = given.people().take(np.arange(40))
    x[0] *= 1e6
    x[1] = np.nan
    tensors = torch.from_numpy(x), torch.from_numpy(y)

    def seen(kept: torch.Tensor) -> tuple[torch.Tensor, int]:
        sums = run._sums.gradients.sum(tensors[0][kept], tensors[1][kept])
        total = torch.cat([each.double().flatten() for each in sums.gradients.values()])
        return total, 2 * int((sums.norms * run.clip <= run.clip).sum()) - len(sums.norms)

    whole, count = seen(torch.ones(40, dtype=torch.bool))
    for gone in range(40):
        less, fewer = seen(torch.arange(40) != gone)
        assert float((whole - less).square().sum()) <= float(run.recipe.bound.l2_squared)
        assert abs(count - fewer) == 1
    assert float(whole.norm()) > 0


def test_the_noise_on_the_sum_is_what_the_recipe_says_in_units_of_the_clip() -> None:
    class Flat(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(20_000))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.stack([x.sum(1) * 0, x.sum(1) * 0], 1) + self.weight.sum() * 0

    run = training(divided(), Flat(), clip=7, clipping=adaptive(noise=4))
    with run as steps:
        next(iter(steps)).gradient()
    assert isinstance(run.model.weight, nn.Parameter)
    noise = run.model.weight.grad.double().numpy() * 40 / 7  # type: ignore[union-attr]
    z, count = run.recipe.multiplier, Fraction(64)
    deviation = float(1 / (1 / z**2 - 1 / count)) ** 0.5 * float(run.recipe.bound.l2_squared) ** 0.5
    assert stats.kstest(noise / deviation, "norm").pvalue > 1e-4
    for wrong in (0.7, 1.3):
        assert stats.kstest(noise / deviation / wrong, "norm").pvalue < 1e-9


def logarithmic(moves: Iterable[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([np.log(later / earlier) for earlier, later in pairwise(moves)])


def test_the_noise_on_the_count_is_what_it_says() -> None:
    wanted = adaptive(quantile="0.5", rate="0.01", noise=50)
    run = training(nobody(), nn.Linear(4, 2), steps=1500, epsilon=None, noise=20, clipping=wanted, tranche=1500)
    moves = clips(run)
    counted = -logarithmic(moves) / 0.01 * 2 * 40  # nobody is there: all of the count is noise
    assert stats.kstest(counted / 100, "norm").pvalue > 1e-4
    for scale, accepted in ((1.0, True), (0.7, False), (1.3, False)):
        beyond = stats.chi2.cdf(np.square(counted / 100 / scale).sum(), len(counted))
        assert bool(1e-6 < beyond < 1 - 1e-6) is accepted


@pytest.mark.parametrize("begins", ["0.02", "40"])
def test_it_goes_to_the_quantile_wanted(begins: str) -> None:
    given = divided(2000)
    trained = nn.Linear(4, 2)
    wanted = adaptive("0.7", rate="0.5")
    words = {"batch": 400, "steps": 60, "epsilon": None, "noise": 1, "tranche": 60}
    run = training(given, trained, clip=begins, clipping=wanted, budget=so.account(given, so.unlimited("x")), **words)
    reached = clips(run)[-1]
    (x, y), _ = given.people().take(np.arange(2000))
    run._sums.measure_in(1.0)
    norms = run._sums.gradients.sum(torch.from_numpy(x), torch.from_numpy(y)).norms.numpy()
    assert abs(float((norms <= reached).mean()) - 0.7) < 0.12


def test_it_stays_within_reach_of_its_beginning() -> None:
    far = adaptive(rate=10, noise=10**6)
    run = training(nobody(), nn.Linear(4, 2), steps=60, clipping=far, tranche=60)
    moved = clips(run)
    assert min(moved) == 1 / REACH
    assert max(moved) == REACH


def test_the_clip_is_kept_with_the_weights(tmp_path: Path) -> None:
    given, path = divided(), tmp_path / "run.npz"
    words = {"budget": account(given), "steps": 8, "tranche": 4, "checkpoint": path}
    first = training(given, **words)
    with first as steps:
        for step in steps:
            step.gradient()
            if step.number == 3:
                break
    assert first.clip != 1
    again = training(given, **words)
    with again as steps:
        assert again.clip == first.clip
        assert [step.gradient() for step in steps] == [None] * 4
    with pytest.raises(ArgumentError, match="another training"), training(given, **(words | {"clipping": "flat"})):
        pass


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: adaptive(quantile=2), "quantile"),
        (lambda: adaptive(rate=0), "rate"),
        (lambda: adaptive(noise=0), "noise"),
        (lambda: adaptive(noise=float("nan")), "noise"),
        (lambda: training(divided(), clipping=adaptive(noise="0.1")), "take more noise on the count"),
        (lambda: training(divided(), clipping="adapting"), "clipping"),
        (lambda: training(divided(), clipping=7), "clipping"),
        (lambda: training(divided(), correlation=banded(2)), "independent noise"),
        (lambda: training(divided(), clip=0), "clip"),
    ],
)
def test_bad_words_are_refused_before_anything_is_charged(make: Any, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        make()
