"""A clip that follows clients' norms: paid for with the sum, as one Gaussian; kept over crashes; refused unproven."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sordino as so
from sordino.accounting.events import Gaussian, PoissonSampled
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError
from sordino.learn.federation.parties import Client
from sordino.learn.federation.plan import Recipe
from sordino.learn.federation.populations import population
from sordino.learn.federation.recipes import recipe_for
from sordino.learn.federation.roster import Quorum
from sordino.learn.federation.rounds import Run
from sordino.learn.federation.simulation import simulate

FREE = so.unlimited("noise and clips are compared")
PHONES = population("phones", members=200)


def adapting(given: Any = PHONES, **words: Any) -> Recipe:
    said: dict[str, Any] = {"parameters": 5, "rounds": 10, "clip": 1, "clipping": "adaptive", "noise": 2}
    return recipe_for(given, so.budget(epsilon=4, delta="1e-5"), **(said | words))


@pytest.mark.parametrize(
    ("neighbours", "rate", "moved"),
    [(Neighbours.ADD_REMOVE, 1, 1), (Neighbours.ADD_REMOVE, "0.3", 1), (Neighbours.ZERO_OUT, 1, 2)],
)
def test_sum_and_count_cost_together_what_the_round_is_charged(neighbours: Neighbours, rate: Any, moved: int) -> None:
    """The distance of two neighbours in deviations of the two noises, added up in squares: the 1/z² of the event."""
    recipe = adapting(population("some", members=200, neighbours=neighbours), rate=rate)
    radius = recipe.radius(None)
    assert radius is not None
    whole = Fraction(recipe.steps.squared) / recipe.law.variance + Fraction(moved) ** 2 / radius.variance
    assert whole == 1 / recipe.multiplier**2
    gaussian = recipe.step.event if isinstance(recipe.step, PoissonSampled) else recipe.step
    assert gaussian == Gaussian(recipe.multiplier**2)
    assert recipe.law.variance > recipe.multiplier**2 * recipe.steps.squared  # the count takes its part


def test_a_training_with_an_adaptive_clip_costs_its_epsilon() -> None:
    recipe = adapting(noise=None, epsilon=3, rate="0.5")
    account = so.account(PHONES, so.budget(epsilon=3, delta="1e-5"))
    for number in range(recipe.rounds):
        account.begin(recipe.round(number, Fraction(number + 1, 7)))
    with pytest.raises(so.errors.BudgetError):
        account.begin(recipe.round(10))


def drifting(rounds: int, clip: Any, clients: int = 200, **words: Any) -> Run:
    """Run clients whose norms are 0.01, 0.02, …: the median of 200 is about 1."""
    some = population("some", members=clients)
    updates = [Client(lambda _, k=k: np.array([(k + 1) / 100, 0.0])) for k in range(clients)]
    said: dict[str, Any] = {"noise": 1, "clipping": so.learn.adaptive(rate=2)} | words
    return simulate(updates, start=np.zeros(2), budget=so.account(some, FREE), rounds=rounds, clip=clip, **said)


@pytest.mark.parametrize("clip", ["0.05", 40])
def test_the_clip_finds_the_median_from_afar(clip: Any) -> None:
    last = drifting(25, clip).settled[-1].plan.clip
    assert last is not None
    assert 0.6 < last < 1.5


def test_the_sum_has_the_noise_that_is_priced_in_units_of_the_clip() -> None:
    length, clip = 20_000, 8
    some = population("some", members=10)
    run = simulate(
        [Client(lambda _: np.zeros(length)) for _ in range(10)],
        start=np.zeros(length),
        budget=so.account(some, FREE),
        rounds=1,
        clip=clip,
        clipping="adaptive",
        noise=3,
    )
    recipe = run.settled[0].plan.recipe
    deviation = clip * math.sqrt(recipe.law.variance / recipe.steps.squared)
    ratio = float(np.mean(np.square(run.weights * 10))) / deviation**2

    def p(scale: float) -> float:
        return math.erfc(abs(ratio / scale**2 - 1) / math.sqrt(2 / length) / math.sqrt(2))

    assert p(1) > 1e-6, (length, ratio)
    assert p(0.7) < 1e-6
    assert p(1.3) < 1e-6


@pytest.mark.parametrize(
    "answer",
    [np.full(3, np.nan), np.zeros(3), np.full(3, 1e300), np.full(3, 5e-324), np.zeros(7), None, "4711"],
    ids=["nan", "zero", "huge", "tiny", "misshapen", "nothing", "text"],
)
def test_a_client_moves_sum_and_count_by_one_at_most(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(so.noise.RoundedGaussian, "draw", lambda _, size=None: np.zeros(size or (), dtype=np.int64))

    def run(members: int) -> tuple[np.ndarray, float]:
        clients = [*(Client(lambda _, k=k: np.eye(3)[k]) for k in range(3)), Client(lambda _: answer)][:members]
        some = population("some", members=members)
        said: dict[str, Any] = {"rounds": 2, "clip": "0.5", "noise": 1, "clipping": so.learn.adaptive(noise=5)}
        done = simulate(clients, start=np.zeros(3), budget=so.account(some, FREE), **said, apply=lambda _, mean: mean)
        moved = done.settled[1].plan.clip
        assert moved is not None
        share = 0.5 - math.log(moved / Fraction(1, 2)) / 0.2
        first = done.settled[0].plan
        assert first.clip is None
        return done.weights * members / float(moved), (2 * share - 1) * members

    without, with_one = run(3), run(4)
    assert np.linalg.norm(with_one[0] - without[0]) <= 1 + 1e-3
    assert abs(with_one[1] - without[1]) < 1 + 1e-9


def test_a_round_in_which_nobody_is_drawn_moves_the_clip_by_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(so.noise.RoundedGaussian, "draw", lambda _, size=None: np.full(size or (), 1))
    moved = drifting(2, 1, clients=1, rate="1e-9").settled[1].plan.clip
    assert moved == pytest.approx(math.exp(-1))  # a noisy S of 1 among one: a share of 1, at a rate of 2·(1 − ½)


def test_a_clip_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    kept, seen = tmp_path / "kept.npz", []

    def stop(weights: np.ndarray, mean: np.ndarray) -> np.ndarray:
        seen.append(1)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return weights + mean

    words: dict[str, Any] = {"clip": 40, "checkpoint": kept, "apply": stop}
    with pytest.raises(KeyboardInterrupt):
        drifting(6, **words)
    run = drifting(6, **words)
    assert [each.plan.number for each in run.settled] == [3, 4, 5]
    first = run.settled[0].plan.clip
    assert first is not None
    assert first < 25  # three rounds further down than where it began


def test_what_is_not_proven_is_refused_with_the_way_out() -> None:
    known = population("known", members=5, neighbours=Neighbours.ZERO_OUT)
    for given, words, match in (
        (known, {"quorum": Quorum(5, 4)}, "leave out the threshold"),
        (PHONES, {"noise": None, "epsilon": {"a": 1, "b": 2}}, "one ε for all"),
        (PHONES, {"clipping": so.learn.adaptive(noise="0.1")}, "more noise on the count"),
        (PHONES, {"clipping": "layer"}, "one of"),
    ):
        with pytest.raises(ArgumentError, match=match):
            adapting(given, **words)
