"""The strips themselves: their areas against exact fractions, and the exact decision at known places."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from sordino.noise import Binomial, DiscreteGaussian, DiscreteLaplace, Geometric, Poisson
from sordino.noise.partition import Strip, Unfolding, _below_weight, decide, partition, rest


def test_edges_enclose_the_exact_cumulative_probabilities():
    """A binomial law is rational, so its edges are known exactly."""
    law = Binomial(12, "0.3")
    level = partition(law, 64)
    reached = Fraction(0)
    for strip, below, above in zip(level.strips, level.below, level.above, strict=True):
        reached += comb(12, strip.low) * Fraction(3, 10) ** strip.low * Fraction(7, 10) ** (12 - strip.low)
        assert below <= reached * 2**64 <= above
        assert above - below <= 4
    assert reached == 1
    assert sorted(strip.low for strip in level.strips) == list(range(13))


@pytest.mark.parametrize("depth", [64, 128, 256])
def test_edges_narrow_with_depth(depth):
    level = partition(DiscreteGaussian(50), depth)
    assert all(0 <= above - below <= 6 for below, above in zip(level.below, level.above, strict=True))
    assert level.below == sorted(level.below)
    assert level.above == sorted(level.above)
    assert 0 < 2**depth - level.below[-1] < 8


def test_boxes_and_wedges_share_the_area_as_the_law_falls():
    """For the geometric law each block's box is e^-(width/scale) of its rectangle."""
    law = Geometric(1024)
    level = partition(law, 64)
    width = 1 << law.width_bits
    box, wedge = level.below[0], level.below[1] - level.below[0]
    assert level.strips[:2] == [Strip(0, 1, 0, False), Strip(0, 1, 0, True)]
    assert box / (box + wedge) == pytest.approx(2.718281828459045 ** (-width / 1024), rel=1e-12)


def test_locate_is_certain_inside_and_silent_on_edges():
    level = partition(DiscreteLaplace(2), 64)
    for index, (below, above) in enumerate(zip(level.below[:20], level.above[:20], strict=True)):
        assert level.locate(below - 1) == index
        assert level.locate(above) == index + 1
        assert level.locate(below) in (None, index + 1)
    assert level.locate(2**64 - 1) is None


def test_the_rest_is_bounded_by_a_geometric_sum():
    assert rest([(8, 8), (4, 4)]) == 8  # 4 + 2 + 1 + …
    assert rest([(8, 8), (0, 0)]) == 0
    assert rest([(8, 8)]) is None
    assert rest([(8, 8), (8, 9)]) is None


def test_unfolding_reveals_only_what_is_asked(replay):
    source = replay([7])
    real = Unfolding(0b101, 3, source)
    assert [real.first(k) for k in (1, 2, 3)] == [0b1, 0b10, 0b101]
    assert source.taken == 0
    assert real.first(67) == 0b101 << 64 | 7
    assert real.first(3) == 0b101
    assert source.taken == 1


def test_a_law_with_one_value_is_decided_at_once(replay):
    for law, value in ((Binomial(0, "0.5"), 0), (Binomial(9, 0), 0), (Binomial(9, 1), 9)):
        assert decide(law, 0, Unfolding(2**63, 64, replay()), Unfolding(0, 64, replay())) == value


def test_wedges_reject_the_outer_node_and_what_is_outside_the_support(replay):
    law = Binomial(10**6, "0.5")
    width = 1 << law.width_bits
    assert width > 1
    left = Strip(law.mode - width, -1, 0, True)
    assert not _below_weight(law, left, law.mode - width, Unfolding(0, 64, replay()))
    far = 10**6 - law.mode
    last = Strip(law.mode + far // width * width, 1, far // width, True)
    assert not _below_weight(law, last, 10**6 + 1, Unfolding(0, 64, replay()))
    assert not _below_weight(law, Strip(-width, -1, law.mode // width, True), -1, Unfolding(0, 64, replay()))
    # Where the outer node lies outside, all of the wedge is there to be decided: the inner node is always accepted.
    assert _below_weight(law, last, law.mode + (last.block << law.width_bits), Unfolding(2**64 - 1, 64, replay()))


def test_wedge_heights_are_decided_against_the_exact_ratio(replay):
    """At V just below and just above the exact share, for which the first 64 bits are not enough."""
    law = Geometric(1024)
    width = 1 << law.width_bits
    strip = Strip(0, 1, 0, True)
    x = width // 2
    bits = 256
    outer, weight = law.ratio(width, 0, bits)[0], law.ratio(x, 0, bits)[0]
    share = (weight - outer) * 2**128 // ((1 << bits) - outer)
    first, second = share >> 64, share & (2**64 - 1)
    assert _below_weight(law, strip, x, Unfolding(first, 64, replay([second - 2**20])))
    assert not _below_weight(law, strip, x, Unfolding(first, 64, replay([second + 2**20])))


def test_a_plateau_at_the_mode_is_no_obstacle(replay):
    """With a whole rate, P[rate - 1] = P[rate]."""
    law = Poisson(10**6)
    low, high = law.ratio(10**6 - 1, 10**6, 128)
    assert low <= 2**128 <= high
    value = decide(law, 1, Unfolding(2**62, 64, replay(then=1)), Unfolding(1, 64, replay(then=2)))
    assert value is not None


@pytest.mark.parametrize("law", [Poisson("12.3"), Poisson(700), Binomial(90, "0.07"), Poisson(10**5)], ids=repr)
def test_edges_enclose_those_of_deeper_levels(law):
    """Where one side ends first, a deeper level puts more strips between those of the other side."""
    level, deeper = partition(law, 64), partition(law, 192)
    place = {strip: index for index, strip in enumerate(deeper.strips)}
    for strip, below, above in zip(level.strips, level.below, level.above, strict=True):
        index = place[strip]
        assert below << 128 <= deeper.below[index]
        assert deeper.above[index] <= above << 128
