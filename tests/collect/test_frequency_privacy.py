"""ε of the very coins: by going through all words on small domains, and by formula at the ends of what is allowed."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from collect.enumerated import last_words, law
from collect.randomizers import MAKERS, options, symmetric
from sordino.accounting import events
from sordino.collect.coins import WORD, below, odds
from sordino.collect.frequencies.hadamard import Hadamard
from sordino.collect.frequencies.hashing import LocalHashing
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.frequencies.subset import Subset
from sordino.collect.frequencies.unary import Unary
from sordino.errors import ArgumentError

EPSILONS = ("1e-6", "0.3", "1", "3", "32")


def loss_at_most(ratio: Fraction, epsilon: Fraction) -> bool:
    with mpmath.workdps(120):
        power = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        return bool(mpmath.mpf(ratio.numerator) / ratio.denominator <= power)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_payload_tells_two_values_apart_by_more_than_epsilon(name: str, epsilon: str) -> None:
    for domain in (2, 3) if name == "hashing-fast" else (2, 3, 4):
        randomizer = MAKERS[name](domain, epsilon)
        laws = [law(randomizer, value, options(randomizer)) for value in range(domain)]
        assert all(sum(each.values()) == 1 for each in laws)
        assert all(each.keys() == laws[0].keys() for each in laws)
        worst = max(one[payload] / other[payload] for one, other in product(laws, laws) for payload in one)
        assert loss_at_most(worst, randomizer.epsilon)
        assert not loss_at_most(worst, randomizer.epsilon * Fraction(99, 100))  # nothing is given away, either


@pytest.mark.parametrize("name", MAKERS)
def test_support_is_what_enumeration_finds(name: str) -> None:
    """Chances of support, counted by the randomizer's own counts, are those that estimates and variances use."""
    randomizer = MAKERS[name](4, "0.9")
    laws = [law(randomizer, value, options(randomizer)) for value in range(4)]
    for held, each in enumerate(laws):
        chances = [Fraction(0)] * 4
        for payload, chance in each.items():
            row = np.frombuffer(payload, dtype=np.uint8)[None]
            assert len(payload) == randomizer.size
            assert randomizer.well_formed(row).all()
            for value, supports in enumerate(randomizer.supported(randomizer.count(row))):
                chances[value] += chance * int(supports)
        wanted = [randomizer.support.own if value == held else randomizer.support.other for value in range(4)]
        slack = Fraction(1, 2**60) if name.startswith("hashing") else 0  # of words modulo a prime
        assert all(abs(one - other) <= slack for one, other in zip(chances, wanted, strict=True))


@pytest.mark.parametrize("name", ["k-ary", "unary", "unary-symmetric"])
def test_the_last_word_of_each_part_does_what_the_first_does(name: str) -> None:
    randomizer = MAKERS[name](3, 1)
    of = options(randomizer)
    for value in range(3):
        assert law(randomizer, value, of) == law(randomizer, value, lambda place: last_words(of(place)))


@pytest.mark.parametrize("epsilon", ["1e-6", "0.001", "0.5", "1", "8", "31.9", "32"])
@pytest.mark.parametrize("domain", [2, 3, 1000, 2**20, 2**26, 2**31])
def test_coins_keep_epsilon_at_the_ends(epsilon: str, domain: int) -> None:
    for ratio in _ratios(domain, epsilon):
        assert ratio > 1
        assert loss_at_most(ratio, Fraction(epsilon))


def _ratios(domain: int, epsilon: str) -> list[Fraction]:
    found = []
    hashing = LocalHashing(domain, epsilon)
    assert hashing.support.contrast > 0
    found.append(Fraction(hashing.answer.truth, hashing.answer.lie))
    if domain**2 < float(epsilon) * 2**63:
        k_ary = KAry(domain, epsilon)
        found.append(Fraction(k_ary.truth, k_ary.lie))
    if domain <= 2**26:
        truth = Hadamard(domain, epsilon).truth
        found.append(Fraction(truth, WORD - truth))
    if domain <= 2**20:
        for unary in (Unary(domain, epsilon), symmetric(domain, epsilon)):
            found.append(Fraction(unary.own * (WORD - unary.other), unary.other * (WORD - unary.own)))
        subset = Subset(domain, epsilon)
        found.append(Fraction(subset.truth * (domain - subset.chosen), (WORD - subset.truth) * subset.chosen))
    return found


def test_coins_that_are_too_coarse_are_refused() -> None:
    """There the least L with T/L ≤ e^ε leaves T below L, and L/T above e^ε: the value held would be told too seldom."""
    domain, epsilon = 2_000_000_011, Fraction(1, 10**6)
    lie = math.ceil(WORD / (odds(epsilon) + domain - 1))
    assert not loss_at_most(Fraction(lie, WORD - (domain - 1) * lie), epsilon)
    for each in (domain, 2**31):
        with pytest.raises(ArgumentError, match="SRD-C106"):
            KAry(each, epsilon)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("epsilon", [0, -1, "1e-7", 33, float("nan"), True, None, "much"])
def test_a_wrong_epsilon_is_refused(name: str, epsilon: object) -> None:
    with pytest.raises(ArgumentError, match="epsilon"):
        MAKERS[name](10, epsilon)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("domain", [0, 1, -5, 2.0, True, 2**40, "ten"])
def test_a_wrong_domain_is_refused(name: str, domain: object) -> None:
    with pytest.raises(ArgumentError, match="domain"):
        MAKERS[name](domain, 1)  # type: ignore[arg-type]


def test_words_that_would_not_be_uniform_are_drawn_again() -> None:
    class Two:
        given = iter([WORD - 1, 7])

        def word(self) -> int:
            return next(self.given)

    assert WORD % 3 == 1
    assert below(3, Two()) == 1  # type: ignore[arg-type]


def test_events_are_those_that_are_proven() -> None:
    delta = Fraction(1, 10**6)
    assert KAry(10, 1).event() == events.RandomizedResponse(Fraction(1), 10)
    assert KAry(10, 1).shuffled(1000, delta) == events.ShuffledResponse(Fraction(1), 10, 1000, delta)
    unary = Unary(10, 1)
    assert unary.shuffled(1000, delta) == events.ShuffledUnary(unary.support.own, unary.support.other, 1000, delta)
    for randomizer in (Hadamard(10, 1), LocalHashing(10, 1), Subset(10, 1)):
        assert randomizer.event() == events.Pure(Fraction(1))
        assert randomizer.shuffled(1000, delta) == events.ShuffledLocal(Fraction(1), 1000, delta)
