"""The price of pan-private cells, against the joint law of all that is seen, enumerated in fractions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from itertools import product

import mpmath
import pytest

from sordino.collect.pan.coins import ONE, Coins

Law = dict[tuple[object, ...], Fraction]
"""The probability of all that was seen so far, and of the cells behind it (the last entry)."""

VIEW, ANEW, OUTPUT = "view", "anew", "output"
HALF = Fraction(1, 2)


class World:
    """The text's own model of cells: no line of the library but the two numbers of its coins."""

    def __init__(self, cells: int, items: int, truth: Fraction, keep: Fraction) -> None:
        self.cells, self.values, self.truth, self.keep = cells, items + 1, truth, keep

    def law(self, stream: Iterable[object]) -> dict[tuple[object, ...], Fraction]:
        """The probability of every list of views and outputs; an update is a pair (cell, item)."""
        start = Fraction(1, self.values**self.cells)
        now: Law = {(cells,): start for cells in product(range(self.values), repeat=self.cells)}
        strength = self.truth
        for event in stream:
            then: dict[tuple[object, ...], Fraction] = defaultdict(Fraction)
            for (*seen, cells), chance in now.items():
                for more, after, share in self._happens(event, cells, strength):
                    then[(*seen, *more, after)] += chance * share
            now = dict(then)
            if event == ANEW:
                strength *= self.keep
        found: dict[tuple[object, ...], Fraction] = defaultdict(Fraction)
        for (*seen, _), chance in now.items():
            found[tuple(seen)] += chance
        return found

    def _happens(self, event, cells, strength):  # type: ignore[no-untyped-def]
        if event == VIEW:
            yield (cells,), cells, Fraction(1)
        elif event == OUTPUT:  # the number of cells with 1, with noise 2^-|k|/3, stopped at the ends
            ones = sum(value == 1 for value in cells)
            for shown, share in noisy(ones, self.cells):
                yield (shown,), cells, share
        elif event == ANEW:
            for after in product(range(self.values), repeat=self.cells):
                share = math.prod(self._mix(self.keep, old, new) for old, new in zip(cells, after, strict=True))
                yield (), after, share
        else:
            place, item = event
            for new in range(self.values):
                yield (), (*cells[:place], new, *cells[place + 1 :]), self._mix(strength, item, new)

    def _mix(self, strength: Fraction, likely: int, value: int) -> Fraction:
        return strength * (likely == value) + (1 - strength) / self.values


def noisy(ones: int, cells: int, reach: int = 2) -> list[tuple[int, Fraction]]:
    low, high = -reach, cells + reach
    inner = {shown: Fraction(1, 3) * HALF ** abs(shown - ones) for shown in range(low + 1, high)}
    below, above = ones - low, high - ones
    return [(low, HALF**below * 2 / 3), *inner.items(), (high, HALF**above * 2 / 3)]


def worst(here: dict[tuple[object, ...], Fraction], there: dict[tuple[object, ...], Fraction]) -> Fraction:
    assert sum(here.values()) == sum(there.values()) == 1
    assert here.keys() == there.keys()
    return max(max(here[seen] / there[seen], there[seen] / here[seen]) for seen in here)


def streams(items: int, periods: int) -> Iterable[list[list[tuple[str, int]]]]:
    """All that one unit ("x") and one other of the same cell ("y") can do between two looks, in order."""
    one = [[], *([[("x", item)] for item in range(1, items + 1)])]
    both = [*one, *([[("x", i), ("y", j)] for i in range(1, items + 1) for j in range(1, items + 1)])]
    both += [[("y", j), ("x", i)] for i in range(1, items + 1) for j in range(1, items + 1)]
    return product(both, repeat=periods)  # type: ignore[return-value]


def told(periods: Iterable[list[tuple[str, int]]], between: list[object], keep_x: bool) -> list[object]:
    found: list[object] = []
    for number, period in enumerate(periods):
        found += between if number else []
        found += [(0, item) for who, item in period if who != "x" or keep_x]
        found += [VIEW]
    return found


@pytest.mark.parametrize(("items", "views", "randomisations"), [(1, 1, 0), (1, 2, 1), (1, 3, 2), (2, 1, 0), (2, 2, 1)])
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 10), Fraction(3)])
def test_no_views_tell_more_than_the_price(items: int, views: int, randomisations: int, epsilon: Fraction) -> None:
    coins = Coins.for_epsilon(epsilon, items, views, randomisations)
    world = World(1, items, Fraction(coins.truth, ONE), Fraction(coins.keep, ONE))
    most = Fraction(1)
    for periods in streams(items, views):
        here, there = (world.law(told(periods, [ANEW], keep)) for keep in (True, False))
        ratio = worst(here, there)
        assert ratio <= coins.loss
        most = max(most, ratio)
    if views == 1:
        assert most == coins.loss  # reached: the claim is tight
    assert math.log(most) > 0.7 * math.log(coins.loss)


@pytest.mark.parametrize("anew", [1, 2, 3])
def test_randomising_more_often_tells_less(anew: int) -> None:
    coins = Coins.for_epsilon(Fraction(1), 1, 3, 2)
    world = World(1, 1, Fraction(coins.truth, ONE), Fraction(coins.keep, ONE))
    for periods in streams(1, 3):
        here, there = (world.law(told(periods, [ANEW] * anew, keep)) for keep in (True, False))
        assert worst(here, there) <= coins.loss


@pytest.mark.parametrize("unseen", [[ANEW, "y", ANEW], [ANEW, "x", ANEW, "y"], ["y", ANEW, "x", ANEW]])
def test_updates_around_a_state_that_nobody_saw(unseen: list[object]) -> None:
    """Whoever came before or after a randomisation has the same strength at the next look."""
    for items in (1, 2):
        coins = Coins.for_epsilon(Fraction(1), items, 2, 2)
        world = World(1, items, Fraction(coins.truth, ONE), Fraction(coins.keep, ONE))
        item = {"x": (0, 1), "y": (0, items)}
        between = [item.get(event, event) for event in unseen]  # type: ignore[call-overload]
        others = [item.get(event, event) for event in unseen if event != "x"]  # type: ignore[call-overload]
        for before in ([], [(0, 1)]):
            here = world.law([*before, VIEW, *between, VIEW])
            there = world.law([VIEW, *others, VIEW])
            assert worst(here, there) <= coins.loss


def test_a_save_between_two_looks_into_memory() -> None:
    """As it is run: randomised before and after each save, and one look into memory on either side."""
    coins = Coins.for_epsilon(Fraction(1), 1, 3, 2)
    world = World(1, 1, Fraction(coins.truth, ONE), Fraction(coins.keep, ONE))
    for before, after in product(([], [(0, 1)]), repeat=2):
        there = world.law([VIEW, ANEW, VIEW, ANEW, VIEW])
        here = world.law([*before, VIEW, *after, ANEW, VIEW, ANEW, *before, VIEW])
        assert worst(here, there) <= coins.loss


@pytest.mark.parametrize(
    "shape",
    [
        ["x", VIEW, OUTPUT],
        ["x", OUTPUT, "x", VIEW, "x", OUTPUT],
        ["x", VIEW, ANEW, "x", OUTPUT, "x", VIEW],
        ["x", OUTPUT, VIEW, "x", OUTPUT, ANEW, OUTPUT, "x", VIEW],
        ["x", "y", OUTPUT, "x", VIEW, ANEW, "y", "x", OUTPUT, VIEW, OUTPUT],
    ],
)
def test_views_and_outputs_together(shape: list[str]) -> None:
    """Two cells, one of another unit; every output costs a factor of 2 at most, wherever it stands."""
    views, outputs = max(shape.count(VIEW), 1), shape.count(OUTPUT)
    coins = Coins.for_epsilon(Fraction(1), 1, views, views - 1)
    world = World(2, 1, Fraction(coins.truth, ONE), Fraction(coins.keep, ONE))
    update = {"x": (0, 1), "y": (1, 1)}
    here = world.law([update.get(event, event) for event in shape])
    there = world.law([update.get(event, event) for event in shape if event != "x"])
    assert worst(here, there) <= coins.loss * 2**outputs


def test_a_unit_that_is_replaced_pays_twice() -> None:
    """Under replace-one, x of one cell leaves and z of another comes; within one cell other items come."""
    coins = Coins.for_epsilon(Fraction(1), 2, 2, 1)
    world = World(2, 2, Fraction(coins.truth, ONE), Fraction(coins.keep, ONE))
    pairs = [
        ([(0, 1), VIEW, ANEW, (0, 2), VIEW], [(1, 2), VIEW, ANEW, (1, 1), VIEW]),
        ([(0, 1), VIEW, ANEW, (0, 2), VIEW], [(0, 2), VIEW, ANEW, (0, 1), VIEW]),
        ([(0, 1), VIEW, ANEW, VIEW], [(0, 2), VIEW, ANEW, (0, 1), VIEW]),
    ]
    for here, there in pairs:
        assert worst(world.law(here), world.law(there)) <= coins.loss**2


def test_two_looks_without_randomising_are_caught() -> None:
    """Against two looks with nothing between them there is no price: what changed, somebody changed."""
    coins = Coins.for_epsilon(Fraction(1), 1, 2, 1)
    world = World(1, 1, Fraction(coins.truth, ONE), Fraction(coins.keep, ONE))
    here, there = world.law([VIEW, (0, 1), VIEW]), world.law([VIEW, VIEW])
    assert here.keys() != there.keys()


def test_a_state_without_noise_is_caught() -> None:
    world = World(1, 1, Fraction(1), Fraction(0))
    here, there = world.law([(0, 1), VIEW]), world.law([VIEW])
    assert here.get(((0,),), Fraction(0)) == 0 != there[((0,),)]


@pytest.mark.parametrize("items", [1, 2, 30])
@pytest.mark.parametrize("views", [1, 2, 5])
def test_the_price_is_that_of_the_rounded_coins(items: int, views: int) -> None:
    for wanted in (Fraction(1, 100), Fraction(1), Fraction(5)):
        coins = Coins.for_epsilon(wanted, items, views, 2 * views - 2)
        with mpmath.workdps(40):
            exact = mpmath.log(mpmath.mpf(coins.loss.numerator) / coins.loss.denominator)
            assert (
                exact <= mpmath.mpf(coins.epsilon.numerator) / coins.epsilon.denominator <= exact + mpmath.mpf("2e-12")
            )
        assert wanted - Fraction(1, 10**9) <= coins.epsilon <= wanted
        assert 0 <= coins.keep < ONE
        assert 0 < coins.truth < ONE
        for times in range(3):
            assert coins.strength(times) == Fraction(coins.truth, ONE) * Fraction(coins.keep, ONE) ** times


def test_known_coins() -> None:
    """One look: 1 − e^−ε for units alone; (e^ε − 1)/(e^ε − 1 + D) with items, which is k-ary response."""
    assert math.isclose(Coins.for_epsilon(Fraction(1), 1, 1, 0).truth / ONE, 1 - math.exp(-1), rel_tol=1e-9)
    expected = (math.e - 1) / (math.e - 1 + 4)
    assert math.isclose(Coins.for_epsilon(Fraction(1), 3, 1, 0).truth / ONE, expected, rel_tol=1e-9)


def test_no_coins_nearby_are_better() -> None:
    best = Coins.for_epsilon(Fraction(1), 1, 2, 2)
    for factor in (0.9, 1.1):
        keep = int(best.keep * factor)
        low, high = 0, ONE - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if Coins(1, 2, middle, keep).epsilon <= 1 else (low, middle)
        assert Coins(1, 2, low, keep).strength(2) < best.strength(2)
