"""Membership from allele frequencies: exact ones tell who took part, private ones no more than (ε, δ) allows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import sordino as so
from sordino import mechanisms
from sordino.accounting.tradeoff import PERFECT, TradeOff
from sordino.audit.attacks.membership import METHODS, Membership, membership
from sordino.audit.attacks.roc import Roc, draw_rocs
from sordino.errors import ArgumentError

EPSILON, DELTA = 1, 1e-6
VARIANTS, SIZE = 1500, 100


def population(variants: int, seed: int = 1) -> tuple[np.ndarray, np.random.Generator]:
    """Frequencies as populations have them: many rare variants, some frequent ones."""
    dice = np.random.default_rng(seed)
    return 0.05 + 0.9 * dice.beta(0.8, 1.6, variants), dice


def attack_on_exact(method: str, variants: int = VARIANTS, size: int = SIZE) -> Membership:
    public, dice = population(variants)
    inside, outside = (dice.binomial(2, public, (size, variants)) for _ in range(2))
    people, members = np.vstack([inside, outside]), np.arange(2 * size) < size
    return membership(inside.sum(axis=0) / (2 * size), people, public, method, members=members)


@pytest.mark.parametrize("method", METHODS)
def test_exact_frequencies_tell_who_took_part(method: str) -> None:
    found = attack_on_exact(method)
    assert found.roc.auc > 0.97
    assert found.roc.found_at(0.02) > 0.7
    assert found.roc.exceeds(TradeOff.approximate(EPSILON, DELTA))
    assert "members found" in str(found)


def test_the_likelihood_ratio_is_the_best_of_them() -> None:
    strength = {method: attack_on_exact(method, 400).roc.auc for method in METHODS}
    assert strength["likelihood ratio"] >= strength["distance"]
    # It separates by about √(variants/size)/2 standard deviations of either kind (Sankararaman et al. 2009).
    expected = 0.5 * (1 + math.erf(math.sqrt(400 / 100) / 2))
    assert strength["likelihood ratio"] == pytest.approx(expected, abs=0.08)


def test_few_variants_tell_little() -> None:
    assert attack_on_exact("likelihood ratio", variants=10).roc.auc < 0.7


# ---- private frequencies --------------------------------------------------------------------------------------------


def private_release(counts: np.ndarray) -> tuple[np.ndarray, float]:
    """Return noisy counts at (ε, δ) in all, and their standard deviation: one person moves every variant by up to 2."""
    bound = so.Bound.vector(l0=counts.size, linf=2)
    gaussian = mechanisms.Gaussian.for_epsilon(EPSILON, DELTA, bound)
    noisy = gaussian.release(counts, so.unlimited("a test").reserve(gaussian.event(bound), bound))
    return noisy, math.sqrt(gaussian.variance)


def pairs_of_scores(release: Callable[[np.ndarray], tuple[np.ndarray, float]], studies: int) -> Roc:
    """One participant and one outsider from each of many studies, each with its own release: independent scores."""
    public, dice = population(100)
    scores = []
    for _ in range(studies):
        inside = dice.binomial(2, public, (20, 100))
        noisy, deviation = release(inside.sum(axis=0))
        people = np.vstack([inside[:1], dice.binomial(2, public, (1, 100))])
        found = membership(noisy / 40, people, public, "inner product", size=20, noise=deviation / 40)
        scores.append(found.scores)
    return Roc(*np.array(scores).T)


def test_private_frequencies_stay_under_the_bound_at_every_rate() -> None:
    limit = TradeOff.approximate(EPSILON, DELTA)
    private = pairs_of_scores(private_release, 1000)
    assert not private.exceeds(limit)
    assert private.auc < 0.58
    # By the exact curve of this Gaussian as well, which is far tighter than (ε, δ).
    bound = so.Bound.vector(l0=100, linf=2)
    event = mechanisms.Gaussian.for_epsilon(EPSILON, DELTA, bound).event(bound)
    assert not private.exceeds(TradeOff.of(event))
    exact = pairs_of_scores(lambda counts: (counts, 0.0), 300)
    assert exact.auc > 0.9
    assert exact.exceeds(limit)


def test_the_attack_knows_how_to_use_what_little_a_weak_guarantee_leaves() -> None:
    """At a fortieth of the noise the same attack must break the same claim: the test above can fail."""

    def careless(counts: np.ndarray) -> tuple[np.ndarray, float]:
        noisy, deviation = private_release(counts)
        return counts + (noisy - counts) / 40, deviation / 40

    assert pairs_of_scores(careless, 800).exceeds(TradeOff.approximate(EPSILON, DELTA))


# ---- curves ---------------------------------------------------------------------------------------------------------


def test_a_curve_counts_what_it_says() -> None:
    roc = Roc(np.array([3.0, 2.0, 1.0, 0.0]), np.array([2.0, 0.0]))
    false, true = roc.curve()
    assert false.tolist() == [0.0, 0.0, 0.5, 0.5, 1.0]
    assert true.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert roc.found_at(0.4) == 0.25
    assert roc.auc == pytest.approx(0.625)
    pairs = [(a > b) + (a == b) / 2 for a in roc.inside for b in roc.outside]
    assert roc.auc == pytest.approx(np.mean(pairs))


def test_an_honest_curve_at_its_own_bound_is_not_accused_and_a_worse_one_is() -> None:
    dice = np.random.default_rng(1)
    accused = 0
    for _ in range(40):
        outside, inside = dice.normal(0, 1, 2000), dice.normal(1, 1, 2000)
        accused += Roc(inside, outside).exceeds(TradeOff.gaussian(1))
    assert accused == 0
    assert Roc(dice.normal(1.5, 1, 2000), dice.normal(0, 1, 2000)).exceeds(TradeOff.gaussian(1))
    assert Roc(dice.normal(0.3, 1, 4000), dice.normal(0, 1, 4000)).exceeds(PERFECT)


def test_figures_are_drawn() -> None:
    found = attack_on_exact("distance", 50, 20)
    figure = found.figure({"ε = 1 allows": TradeOff.approximate(1)}, {"again": found})
    axes = figure.axes[0]
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert [text.get_text() for text in axes.get_legend().get_texts()][-1] == "ε = 1 allows"
    assert draw_rocs("a title", "a line", {"one": found.roc}).axes


@pytest.mark.parametrize(
    "call",
    [
        lambda: membership([0.1], [[3]], [0.1]),
        lambda: membership([0.1], [[0.5]], [0.1]),
        lambda: membership([0.1, 0.2], [[1]], [0.1]),
        lambda: membership([math.nan], [[1]], [0.1]),
        lambda: membership([0.1], [[1]], [0.1], "guess"),
        lambda: membership([0.1], [[1]], [0.1], members=[True, False]),
        lambda: membership([0.1], [[1]], [0.1]).roc,
        lambda: membership([0.1], [[1]], [0.1], members=[True]).roc,
        lambda: Roc(np.array([]), np.array([1.0])),
        lambda: Roc(np.array([math.nan]), np.array([1.0])),
    ],
)
def test_what_makes_no_sense_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ArgumentError):
        call()


def test_haploid_people_and_frequencies_of_zero() -> None:
    found = membership([0.0, 1.0], [[0, 1], [1, 0]], [0.5, 0.5], copies=1)
    assert np.isfinite(found.scores).all()
    assert found.scores[0] > found.scores[1]
    assert "people against" in str(found)
