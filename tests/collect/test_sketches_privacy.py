"""ε of the sketches' very coins: by going through all words on small shapes, in fractions; events; refusals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest

from collect.enumerated import Law, Options, cuts, last_words, law
from sordino.accounting import events
from sordino.collect.coins import WORD
from sordino.collect.frequencies.count_mean import CountMeanSketch
from sordino.collect.frequencies.hadamard_mean import HadamardCountMeanSketch
from sordino.collect.frequencies.memoised_hashing import MemoisedHashing
from sordino.collect.frequencies.prefix_tree import PrefixTree
from sordino.collect.frequencies.projective import ProjectiveGeometry
from sordino.collect.frequencies.rappor import Rappor
from sordino.collect.frequencies.rappor_coins import RapporCoins
from sordino.errors import ArgumentError

EPSILONS = ("0.001", "0.3", "1", "3", "31")
BOTH = ("longitudinal", "epsilon")


def loss_at_most(ratio: Fraction, epsilon: Fraction) -> bool:
    with mpmath.workdps(120):
        power = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        return bool(mpmath.mpf(ratio.numerator) / ratio.denominator <= power)


def worst(laws: list[Law]) -> Fraction:
    assert all(sum(each.values()) == 1 for each in laws)
    assert all(each.keys() == laws[0].keys() for each in laws)
    return max(one[payload] / other[payload] for one, other in product(laws, laws) for payload in one)


def evenly(parts: int) -> Options:
    return cuts(*(WORD // parts * place for place in range(1, parts)))


def judge(laws: list[Law], epsilon: Fraction) -> None:
    """The loss is within ε, and nothing of ε is given away."""
    ratio = worst(laws)
    assert loss_at_most(ratio, epsilon)
    assert not loss_at_most(ratio, epsilon * Fraction(99, 100))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_count_mean_sketch_keeps_epsilon(epsilon: str) -> None:
    way = CountMeanSketch(domain=3, epsilon=epsilon, hashes=2, width=8)
    options = lambda place: cuts(way.flip) if place else evenly(2)  # noqa: E731
    judge([law(way, value, options) for value in range(3)], way.epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_hadamard_sketch_keeps_epsilon(epsilon: str) -> None:
    way = HadamardCountMeanSketch(domain=4, epsilon=epsilon, hashes=2, width=8)
    options = lambda place: cuts(way.flip) if place else evenly(16)  # noqa: E731
    judge([law(way, value, options) for value in range(4)], way.epsilon)


def _points(way: ProjectiveGeometry) -> Options:
    """The one word: parts of `lie` words each, then remainders of the rest."""
    off, on = way.space.off, way.space.on
    begin = off * way.lie
    rest = [(begin + place, Fraction((WORD - 1 - begin - place) // on + 1, WORD)) for place in range(on)]
    return [(place * way.lie, Fraction(way.lie, WORD)) for place in range(off)] + rest


@pytest.mark.parametrize("epsilon", EPSILONS[:4])
@pytest.mark.parametrize("domain", [2, 5, 13, 40])
def test_projective_geometry_keeps_epsilon(domain: int, epsilon: str) -> None:
    way = ProjectiveGeometry(domain, epsilon)
    laws = [law(way, value, lambda _: _points(way)) for value in range(min(domain, 4))]
    assert len(laws[0]) == way.space.points
    judge(laws, way.epsilon)


@pytest.mark.parametrize("epsilon", ["1e-6", "0.01", "8", "31", "32"])
@pytest.mark.parametrize("domain", [2, 1000, 100_000, 2**22])
def test_words_of_points_keep_epsilon_at_the_ends(domain: int, epsilon: str) -> None:
    way = ProjectiveGeometry(domain, epsilon)
    on = WORD - way.space.off * way.lie
    most, least = -(-on // way.space.on), on // way.space.on
    assert loss_at_most(Fraction(most, way.lie), way.epsilon)
    assert least >= way.lie
    assert way.support.contrast > 0


def test_points_on_a_hyperplane_are_those_with_product_zero() -> None:
    """By multiplication, for every value and every point of several spaces."""
    for domain, epsilon in ((7, 0.1), (13, 1), (31, 1.5), (57, 2), (400, 1)):
        way = ProjectiveGeometry(domain, epsilon)
        space = way.space
        vectors = [_vector(space.q, space.t, number) for number in range(space.points)]
        assert len(set(vectors)) == space.points
        for value in range(min(domain, 20)):
            on = {
                number
                for number, vector in enumerate(vectors)
                if sum(a * b for a, b in zip(vectors[value], vector, strict=True)) % space.q == 0
            }
            value_of = lambda count, value=value: np.full(count, value)  # noqa: E731
            assert set(space.on_hyperplane(value_of(space.on), np.arange(space.on)).tolist()) == on
            off = set(space.off_hyperplane(value_of(space.off), np.arange(space.off)).tolist())
            assert off == set(range(space.points)) - on


def _vector(q: int, t: int, number: int) -> tuple[int, ...]:
    free = 0
    while number >= q**free:
        number -= q**free
        free += 1
    digits = [number // q**place % q for place in range(free)][::-1]
    return (*[0] * (t - 1 - free), 1, *digits)


@pytest.mark.parametrize("epsilon", EPSILONS[:4])
def test_prefix_tree_keeps_epsilon(epsilon: str) -> None:
    way = PrefixTree(epsilon=epsilon, alphabet="ab", longest=2, lengths=(1, 2), seeds=2)
    told = cuts(*(way.answer.lie * place for place in range(1, way.cells)))
    options: list[Options] = [cuts(*way.limits), evenly(2), told]
    laws = [law(way, way.code(word), options.__getitem__) for word in ("", "a", "ab", "bb")]
    judge(laws, way.epsilon)


class _Floor:
    """One floor of a way with two, as something that reports."""

    def __init__(self, toss: Callable[[Any, Any], bytes]) -> None:
        self.report = toss


@pytest.mark.parametrize(
    ("longitudinal", "epsilon"), [("0.5", "0.1"), ("2", "1"), ("6", "2"), ("3", "2.99"), ("31", "20")]
)
def test_rappor_keeps_both_epsilons(longitudinal: str, epsilon: str) -> None:
    """On two words without a bit in common, the worst case: all permanent bits, and all reports from each of them."""
    way = Rappor(longitudinal, epsilon, bits=8, hashes=2, cohorts=1)
    one, other = _disjoint(way)
    turned = _Floor(lambda value, source: way.permanent(value, 0, source))
    permanent = [law(turned, value, lambda _: cuts(way.coins.flip)) for value in (one, other)]
    judge(permanent, way.longitudinal)
    daily = _Floor(lambda value, source: way.daily(value, 0, source))
    # Bits are independent, so one report's law is a product over bits of what two floors do to one bit.
    coins = cuts(way.coins.zero, way.coins.one)
    chances = [{True: Fraction(0), False: Fraction(0)} for _ in range(2)]
    for kept in (0, 1):
        told = law(daily, bytes([kept]), lambda place: coins if place == 0 else [(WORD - 1, Fraction(1))])
        share = sum(chance for payload, chance in told.items() if payload[2] & 1)
        for held in (0, 1):
            stays = 1 - Fraction(way.coins.flip, WORD) if kept == held else Fraction(way.coins.flip, WORD)
            chances[held][True] += stays * share
    assert (chances[1][True], chances[0][True]) == (way.coins.own, way.coins.other)
    ratio = way.coins.own * (1 - way.coins.other) / (way.coins.other * (1 - way.coins.own))
    assert loss_at_most(ratio**2, way.epsilon)
    assert not loss_at_most(ratio**2, way.epsilon * Fraction(99, 100))


def _disjoint(way: Rappor) -> tuple[int, int]:
    sets = {value: set(way.places(np.uint64([value]), np.zeros(1, dtype=np.int64))[0].tolist()) for value in range(40)}
    return next((a, b) for a, b in product(sets, sets) if len(sets[a]) == len(sets[b]) == 2 and not sets[a] & sets[b])


@pytest.mark.long
def test_one_report_of_rappor_by_brute_force() -> None:
    """The same without independence: every report from every permanent answer, at eight bits."""
    way = Rappor(2, 1, bits=8, hashes=1, cohorts=1)
    sets = [int(way.places(np.uint64([value]), np.zeros(1, dtype=np.int64))[0, 0]) for value in range(20)]
    other = next(value for value in range(20) if sets[value] != sets[0])
    daily = _Floor(lambda value, source: way.daily(value, 0, source))
    kept = [way.coins.flip / WORD, way.coins.one / WORD, way.coins.zero / WORD]
    seen: list[dict[bytes, float]] = []
    table = {}
    for bits in range(256):
        table[bits] = {p: float(c) for p, c in law(daily, bytes([bits]), _two(way, bits)).items()}
    for value in (0, other):
        total: dict[bytes, float] = {}
        for bits in range(256):
            wrong = (bits ^ (1 << sets[value])).bit_count()
            share = kept[0] ** wrong * (1 - kept[0]) ** (8 - wrong)
            for payload, chance in table[bits].items():
                total[payload] = total.get(payload, 0.0) + share * chance
        seen.append(total)
    ratio = max(max(seen[0][p] / seen[1][p], seen[1][p] / seen[0][p]) for p in seen[0])
    assert ratio == pytest.approx(np.e, rel=1e-9)


def _two(way: Rappor, bits: int) -> Callable[[int], Options]:
    return lambda place: cuts(way.coins.one if bits >> place & 1 else way.coins.zero)


@pytest.mark.parametrize(
    ("longitudinal", "epsilon"), [("0.5", "0.1"), ("2", "1"), ("4", "2"), ("3", "2.99"), ("4", "3")]
)
def test_memoised_hashing_keeps_both_epsilons(longitudinal: str, epsilon: str) -> None:
    way = MemoisedHashing(domain=50, longitudinal=longitudinal, epsilon=epsilon, seeds=1)
    kept = cuts(*(way.kept.lie * place for place in range(1, way.cells)))
    told = cuts(*(way.lie * place for place in range(1, way.cells)))
    floor = _Floor(lambda value, source: way.permanent(value, 0, source))
    judge([law(floor, value, lambda _: kept) for value in range(12)], way.longitudinal)
    options: list[Options] = [[(0, Fraction(1))], kept, told]
    laws = [law(way, value, options.__getitem__) for value in range(12)]
    judge(laws, way.epsilon)
    assert max(laws[0].values()) == way.support.own
    assert laws[0] == law(way, 0, lambda place: last_words(options[place]))


def test_published_rappor_has_the_figures_of_the_paper() -> None:
    """Theorem 1: ε∞ = 4 ln 3 for f = 1/2, h = 2; theorem 2 by mpmath."""
    way = Rappor.published()
    q, p = mpmath.mpf("0.25") * mpmath.mpf("1.25") + mpmath.mpf("0.375"), mpmath.mpf("0.3125") + mpmath.mpf("0.25")
    wanted = 4 * mpmath.log(3), 2 * mpmath.log(q * (1 - p) / (p * (1 - q)))
    for stated, exact in zip((way.longitudinal, way.epsilon), wanted, strict=True):
        assert 0 < mpmath.mpf(stated.numerator) / stated.denominator - exact < 2e-12


def test_coins_that_lose_more_than_is_stated_are_refused() -> None:
    coins = RapporCoins(WORD // 4, WORD // 2, WORD * 3 // 4)
    assert Rappor("4.4", "1.08", given=coins).coins is coins
    for longitudinal, epsilon in (("4.39", "1.08"), ("4.4", "1.07")):
        with pytest.raises(ArgumentError, match="SRD-C151"):
            Rappor(longitudinal, epsilon, given=coins)


@pytest.mark.parametrize("hashes", [1, 2, 16])
@pytest.mark.parametrize(
    ("longitudinal", "epsilon"), [("1e-3", "1e-4"), ("1", "0.9999"), ("32", "31.9"), ("32", "0.1")]
)
def test_the_best_coins_keep_what_is_stated_at_the_ends(hashes: int, longitudinal: str, epsilon: str) -> None:
    way = Rappor(longitudinal, epsilon, hashes=hashes)
    permanent, single = way.coins.ratios()
    assert loss_at_most(permanent ** (2 * hashes), way.longitudinal)
    assert loss_at_most(single**hashes, way.epsilon)
    assert not loss_at_most(single**hashes, way.epsilon * Fraction(99, 100))


def test_events_claim_nothing_that_is_not_proven() -> None:
    delta = Fraction(1, 10**6)
    ways = [
        CountMeanSketch(10, 1),
        HadamardCountMeanSketch(10, 1),
        ProjectiveGeometry(10, 1),
        PrefixTree(1),
        Rappor(2, 1),
        MemoisedHashing(10, 2, 1),
    ]
    for way in ways:
        assert way.event() == events.Pure(Fraction(1))
        assert way.shuffled(1000, delta) == events.ShuffledLocal(Fraction(1), 1000, delta)


@pytest.mark.parametrize("epsilon", [0, -1, 33, float("nan"), True, None, "much"])
def test_a_wrong_epsilon_is_refused(epsilon: Any) -> None:
    for make in (
        lambda: CountMeanSketch(10, epsilon),
        lambda: HadamardCountMeanSketch(10, epsilon),
        lambda: ProjectiveGeometry(10, epsilon),
        lambda: PrefixTree(epsilon),
        lambda: Rappor(32, epsilon),
        lambda: MemoisedHashing(10, 32, epsilon),
    ):
        with pytest.raises(ArgumentError, match="epsilon"):
            make()


def test_shapes_that_cannot_be_are_refused() -> None:
    for make, code in (
        (lambda: CountMeanSketch(10, 1, hashes=3), "SRD-C154"),
        (lambda: CountMeanSketch(10, 1, width=12), "SRD-C154"),
        (lambda: HadamardCountMeanSketch(1, 1), "SRD-A002"),
        (lambda: ProjectiveGeometry(2**23, 1), "SRD-A002"),
        (lambda: PrefixTree(1, alphabet="aa"), "SRD-C156"),
        (lambda: PrefixTree(1, longest=40), "SRD-C156"),
        (lambda: PrefixTree(1, lengths=(3, 2, 8)), "SRD-C156"),
        (lambda: PrefixTree(1, lengths=(4, 8), shares=("0.5", "0.4")), "SRD-C156"),
        (lambda: PrefixTree(1, seeds=1000), "SRD-C154"),
        (lambda: Rappor(1, 1), "SRD-C151"),
        (lambda: Rappor(2, 1, bits=12), "SRD-C154"),
        (lambda: Rappor.published(f=0), "SRD-C152"),
        (lambda: Rappor.published(p="0.8", q="0.7"), "SRD-C152"),
        (lambda: MemoisedHashing(10, 1, 2), "SRD-C151"),
        (lambda: MemoisedHashing(10, 2, 1, seeds=3), "SRD-C154"),
    ):
        with pytest.raises(ArgumentError, match=code):
            make()
