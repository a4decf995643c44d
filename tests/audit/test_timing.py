"""Timing: dependence is found where it is and nowhere else, by counters and made-up series, never by a real clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sordino as so
from sordino.audit.attacks.dependence import _bins, _Form, _ranks, dependence
from sordino.audit.attacks.timing import timing, timing_of_outcomes
from sordino.errors import ArgumentError
from sordino.noise.keystream import SOURCE
from sordino.noise.strips import table
from sordino.serve.asking.slots import left_of_slot


class Counter:
    """A clock that shows how much work was done."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, amount: float) -> None:
        self.now += amount


# ---- samplers -------------------------------------------------------------------------------------------------------


def test_flipping_until_success_tells_the_noise() -> None:
    clock, dice = Counter(), np.random.default_rng(1)

    def geometric() -> int:
        flips = 0
        while dice.random() < 0.9:
            flips += 1
            clock.work(1)
        return flips

    found = timing_of_outcomes(geometric, calls=2000, clock=clock, seed=1)
    assert found.depends
    assert found.judged.separation == 1.0
    assert found.judged.bits > 1


class CountedWords:
    """Our own source of randomness, with a counter of the words that were taken."""

    def __init__(self, clock: Counter) -> None:
        self.clock = clock

    def word(self) -> int:
        self.clock.work(1)
        return SOURCE.word()

    def words(self, count: int) -> Any:
        self.clock.work(count)
        return SOURCE.words(count)

    def __getattr__(self, name: str) -> Any:
        return getattr(SOURCE, name)


def test_our_sampler_takes_a_number_of_words_that_tells_next_to_nothing_of_the_noise() -> None:
    """Rejection leaves a trace, and the documentation says so; it is a thousandth of what the naive sampler tells."""
    clock = Counter()
    laplace, source = table(so.noise.DiscreteLaplace(100)), CountedWords(clock)
    found = timing_of_outcomes(lambda: laplace.draw(source), calls=4000, clock=clock, seed=1)  # type: ignore[arg-type]
    assert found.judged.bits < 0.02
    assert found.judged.separation < 0.56


def test_the_work_of_a_release_does_not_depend_on_the_value() -> None:
    clock = Counter()
    laplace, source = table(so.noise.DiscreteLaplace(100)), CountedWords(clock)
    found = timing(
        lambda value: value + laplace.draw(source),  # type: ignore[arg-type]
        [0, 10**6, 2**61],
        rounds=1500,
        clock=clock,
        seed=1,
    )
    assert not found.depends
    assert found.judged.bits < 0.01


def test_a_batch_says_nothing_of_its_first_draw() -> None:
    clock = Counter()
    laplace, source = table(so.noise.DiscreteLaplace(100)), CountedWords(clock)
    found = timing_of_outcomes(
        lambda: laplace.draws(500, source),  # type: ignore[arg-type]
        secret=lambda outputs: abs(int(outputs[0])),
        calls=600,
        clock=clock,
        seed=1,
    )
    assert not found.depends


# ---- a service ------------------------------------------------------------------------------------------------------


def service(clock: Counter, slot: float, seed: int = 1) -> Callable[[int], None]:
    """A service whose engine takes longer for more rows, and whose releases come out at the ends of slots."""
    dice = np.random.default_rng(seed)

    def call(rows: int) -> None:
        elapsed = 0.010 + rows * 1e-6 + dice.gamma(4, 0.002)
        clock.work(elapsed + left_of_slot(elapsed, slot))

    return call


def test_slots_hide_what_time_without_them_tells() -> None:
    clock = Counter()
    bare = timing(service(clock, 0.0), [10_000, 14_000], rounds=400, clock=clock, seed=1)
    assert bare.depends
    slotted = timing(service(clock, 0.5), [10_000, 14_000], rounds=400, clock=clock, seed=1)
    assert not slotted.depends
    assert slotted.judged.bits == 0.0


def test_slots_that_are_too_short_still_tell() -> None:
    clock = Counter()
    found = timing(service(clock, 0.005), [10_000, 14_000], rounds=800, clock=clock, seed=1)
    assert found.depends


# ---- the statistics -------------------------------------------------------------------------------------------------


def test_a_drifting_machine_is_not_taken_for_a_leak() -> None:
    """Slower and slower, with bursts: the order within each round is drawn afresh, so nothing depends on the input."""
    accused = 0
    for seed in range(15):
        clock, dice = Counter(), np.random.default_rng(seed)
        state = {"load": 1.0}

        def call(_: int, clock: Counter = clock, dice: Any = dice, state: dict[str, float] = state) -> None:
            state["load"] = 0.98 * state["load"] + 0.02 * dice.exponential(3.0) + 0.001
            clock.work(state["load"] + 0.05 * dice.random())

        accused += timing(call, [0, 1], rounds=150, clock=clock, seed=seed).depends
    assert accused == 0


@pytest.mark.parametrize(
    "leak",
    [
        lambda kind, noise: noise + 0.5 * kind,  # longer
        lambda kind, noise: noise * (1 + kind),  # more spread out, no longer on average
        lambda kind, noise: noise + 8.0 * kind * (noise > 1.2),  # only now and then
    ],
)
def test_leaks_of_several_kinds_are_found(leak: Callable[[Any, Any], Any]) -> None:
    dice = np.random.default_rng(1)
    kinds, noise = dice.integers(0, 2, 2000), dice.normal(0, 1, 2000)
    found = dependence(kinds, leak(kinds, noise), seed=1)
    assert found.certain
    assert found.bits > 0.005


def test_nothing_is_found_where_nothing_is() -> None:
    dice = np.random.default_rng(1)
    found = [
        dependence(dice.integers(0, 3, 400), dice.exponential(1, 400), redraws=99, seed=seed) for seed in range(40)
    ]
    assert not any(each.certain for each in found)
    p_values = np.array([each.p_value for each in found])
    assert (p_values < 0.05).mean() <= 0.2
    assert max(each.bits for each in found) < 0.05


def test_redrawing_within_rounds_takes_drift_away() -> None:
    """A small leak under a drift that is a hundred times as large: visible within rounds only."""
    dice = np.random.default_rng(2)
    kinds = dice.permuted(np.tile([0, 1], (500, 1)), axis=1)
    drift = np.cumsum(dice.normal(0, 1, 500))[:, None]
    leaks = drift + 0.05 * kinds + dice.normal(0, 0.1, kinds.shape)
    assert dependence(kinds, leaks, rounds=True, seed=1).certain
    assert not dependence(kinds.ravel(), leaks.ravel(), seed=1).certain
    assert not dependence(kinds, leaks - 0.05 * kinds, rounds=True, seed=1).certain


def test_the_law_for_many_numbers_holds_in_rounds_and_without() -> None:
    """Kruskal–Wallis' and Pearson's own p-values are found again; in rounds, p-values are uniform."""
    dice = np.random.default_rng(3)
    kinds, values = dice.integers(0, 3, 300), dice.normal(0, 1, 300).round(1)
    labels, taken = kinds[None], values[None]
    by_rank = _Form(_ranks(taken)[..., None], labels)
    theirs = stats.kruskal(*(values[kinds == kind] for kind in range(3)))
    assert by_rank.of(labels) == pytest.approx(theirs.statistic)
    assert by_rank.p_value(theirs.statistic) == pytest.approx(theirs.pvalue)
    bins = _bins(_ranks(taken), labels)
    by_bin = _Form(np.eye(bins.max() + 1)[bins], labels)
    table = np.array([np.bincount(bins[0][kinds == kind], minlength=bins.max() + 1) for kind in range(3)])
    pearson = stats.chi2_contingency(table)
    assert by_bin.of(labels) * 300 / 299 == pytest.approx(pearson.statistic)
    assert by_bin.freedom == pearson.dof
    rounds = [dice.permuted(np.tile([0, 1, 2], (100, 1)), axis=1) for _ in range(400)]
    aligned = [dice.normal(0, 1, (100, 3)) for _ in rounds]
    forms = [_Form(_ranks(each)[..., None], order) for each, order in zip(aligned, rounds, strict=True)]
    p_values = [form.p_value(form.of(order)) for form, order in zip(forms, rounds, strict=True)]
    assert stats.kstest(p_values, "uniform").pvalue > 1e-4


def test_constant_times_and_ties() -> None:
    found = dependence([0, 1] * 50, np.ones(100), seed=1)
    assert (found.p_value, found.bits, found.separation, found.certain) == (1.0, 0.0, 0.5, False)
    two = dependence([0, 0, 1, 1] * 50, [1, 2, 1, 2] * 50, seed=1)
    assert not two.certain
    assert two.separation == 0.5


def test_separation_is_the_share_of_pairs() -> None:
    one, other = np.array([1.0, 4.0, 4.0]), np.array([2.0, 4.0])
    pairs = np.mean([(a > b) + (a == b) / 2 for a in one for b in other])
    found = dependence([0, 0, 0, 1, 1], np.concatenate([one, other]), seed=1)
    assert found.separation == pytest.approx(max(pairs, 1 - pairs))


def test_the_order_of_calls_is_drawn_for_every_round_and_the_first_are_left_out() -> None:
    called: list[int] = []
    found = timing(called.append, [0, 1, 2], rounds=50, warm_up=3, clock=Counter(), seed=1)
    rows = np.array(called).reshape(53, 3)
    assert np.array_equal(np.sort(rows, axis=1), np.tile([0, 1, 2], (53, 1)))
    assert len({tuple(row) for row in rows.tolist()}) == 6
    assert np.array_equal(found.classes, rows[3:].ravel())
    assert len(found.times) == 150


# ---- figures and arguments ------------------------------------------------------------------------------------------


def test_figures_are_drawn_and_show_no_input() -> None:
    clock = Counter()
    found = timing(service(clock, 0.0), [12_345_678, 1], rounds=50, clock=clock, seed=1)
    texts = [text.get_text() for text in found.figure().axes[0].get_legend().get_texts()]
    assert texts == ["input 1", "input 2"]
    assert "12" not in "".join(texts).replace("input 1", "").replace("input 2", "")
    same = timing(lambda _: None, [0, 1], rounds=50, clock=Counter(), seed=1)
    assert len(same.figure(beside=found).axes) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: timing(abs, [1]),
        lambda: timing(abs, [1, 2], rounds=2),
        lambda: timing_of_outcomes(lambda: 3, calls=20, clock=Counter()),
        lambda: timing_of_outcomes(lambda: 3, calls=2),
        lambda: dependence([0, 0], [1.0, 2.0]),
        lambda: dependence([0, 1], [1.0]),
        lambda: dependence([0, 1], [1.0, np.nan]),
        lambda: dependence([[0, 1]], [[1.0, 2.0]]),
        lambda: dependence([[0, 1], [1, 1]], [[1.0, 2.0], [1.0, 2.0]], rounds=True),
        lambda: dependence([0, 1], [1.0, 2.0], redraws=3),
    ],
)
def test_what_makes_no_sense_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ArgumentError):
        call()
