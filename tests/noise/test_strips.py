"""The fast steps say what the exact decision says of the same bits, and leave to it what they cannot say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sordino.noise import Binomial, DiscreteGaussian, DiscreteLaplace, Geometric, Poisson, RoundedGaussian, strips
from sordino.noise.partition import FIRST_DEPTH, Unfolding, decide, partition
from sordino.noise.strips import _ACCEPT, _DOUBT, _REJECT, _UNSURE, Table

LAWS = [
    DiscreteLaplace("0.001"),
    DiscreteLaplace(3),
    DiscreteLaplace("1234.5"),
    DiscreteLaplace(2**50),
    DiscreteGaussian("0.000001"),
    DiscreteGaussian(7),
    DiscreteGaussian(10**6),
    DiscreteGaussian(2**100),
    RoundedGaussian("0.3"),
    RoundedGaussian(2000),
    RoundedGaussian(10**7),
    RoundedGaussian(2**100),
    Geometric("0.5"),
    Geometric(5000),
    Poisson("2.5"),
    Poisson(10**5),
    Binomial(40, "0.3"),
    Binomial(10**6, "0.001"),
    Binomial(10**6, "0.5"),
]


def _name(law):
    return repr(law)[:60]


@pytest.fixture(params=LAWS, ids=_name)
def table(request):
    return strips.table(request.param)


def _words(seed, count):
    generator = np.random.default_rng(seed)
    return [generator.integers(0, 2**64, size=count, dtype=np.uint64) for _ in range(3)]


def _exactly(table, first, second, third, replay):
    return table.decide((int(first), int(second), int(third)), replay(then=1))


def test_the_guide_agrees_with_the_exact_decision_on_the_same_bits(table, replay):
    first, second, third = _words(1, 400)
    out = np.empty(400, dtype=np.int64)
    places, left = table._by_words(out, replay(first.tolist()))
    assert left.tolist() == first[places].tolist()
    certain = np.setdiff1d(np.arange(400), places)
    assert len(certain) > 300
    for i in certain:
        assert _exactly(table, first[i], second[i], third[i], replay) == out[i]


def test_search_and_wedges_agree_with_the_exact_decision_on_the_same_bits(table, replay):
    """The words are chosen in the cells that the guide leaves open, so that wedges and edges are met often."""
    first, second, third = _words(2, 400)
    open_cells = np.flatnonzero(table.guide == _UNSURE).astype(np.uint64)
    low_bits = np.uint64((1 << 48) - 1)
    first = open_cells[np.arange(400) % len(open_cells)] << np.uint64(48) | first & low_bits
    values, verdict = table.settle(first, second, third)
    for i in np.flatnonzero(verdict != _DOUBT):
        expected = _exactly(table, first[i], second[i], third[i], replay)
        assert expected == (values[i] if verdict[i] == _ACCEPT else None)
    assert np.count_nonzero(verdict == _DOUBT) < 20 or table.width_bits == 0


def test_every_draw_forced_through_the_exact_decision_is_the_same(table, replay):
    """Nothing of the table is believed: no cell is sure, no edge is known, no line decides."""
    first, second, third = _words(3, 120)
    trusting_values, trusting = table.settle(first, second, third)
    doubting = Table(table.law)
    doubting.below[:] = 0
    _, verdict = doubting.settle(first, second, third)
    assert (verdict == _DOUBT).all()
    for i in range(120):
        forced = _exactly(doubting, first[i], second[i], third[i], replay)
        if trusting[i] != _DOUBT:
            assert forced == (trusting_values[i] if trusting[i] == _ACCEPT else None)


@pytest.mark.parametrize("law", [DiscreteGaussian(10**6), RoundedGaussian(10**6), Poisson(10**5)], ids=_name)
def test_wide_margins_leave_wedges_to_the_exact_decision(law, replay, monkeypatch):
    table = strips.table(law)
    first, second, third = _words(4, 30_000)
    values, narrow = table.settle(first, second, third)
    monkeypatch.setattr(strips, "_MARGIN", 2.0)
    _, wide = table.settle(first, second, third)
    forced = np.flatnonzero((wide == _DOUBT) & (narrow != _DOUBT))
    assert len(forced) > 150
    for i in forced[:150]:
        expected = _exactly(table, first[i], second[i], third[i], replay)
        assert expected == (values[i] if narrow[i] == _ACCEPT else None)
    assert {_ACCEPT, _REJECT} <= set(narrow[forced].tolist())


def test_whole_arrays_are_the_same_draw_by_draw(replay):
    """With half a word per draw (no offset, no wedge) an array and single draws use the same bits in the same order."""
    for law in (DiscreteLaplace(3), DiscreteGaussian(7), Poisson(4)):
        table = strips.table(law)
        sure = table.guide[np.random.default_rng(5).integers(0, 2**16, 500)]
        words = (np.flatnonzero(np.isin(table.guide, sure))[:500].astype(np.uint64) << np.uint64(48)).tolist()
        array = table.draws(
            len(words), replay([low >> 32 | high for low, high in zip(words[::2], words[1::2], strict=True)])
        )
        source = replay(words)
        assert array.tolist() == [table.draw(source) for _ in words]


def test_the_uncertain_path_is_taken_and_reveals_more_bits(replay):
    """A word on an edge's own prefix cannot be decided by 64 bits."""
    law = DiscreteLaplace(5)
    table = strips.table(law)
    level = partition(law, FIRST_DEPTH)
    on_edges = np.array(level.below[:40], dtype=np.uint64)
    _, verdict = table.settle(on_edges, on_edges, on_edges)
    assert (verdict == _DOUBT).all()
    for edge in on_edges.tolist():
        below, above = replay([0] * 4), replay([2**64 - 1] * 4)
        left = decide(law, 0, Unfolding(edge, 64, below), Unfolding(0, 64, below))
        right = decide(law, 0, Unfolding(edge, 64, above), Unfolding(0, 64, above))
        assert below.taken >= 1
        assert above.taken >= 1
        assert left != right


def test_draws_hand_doubtful_elements_to_the_exact_decision(replay, monkeypatch):
    law = DiscreteGaussian(10**6)
    asked = []
    exact = Table.decide

    def counted(self, words, source):
        asked.append(words)
        return exact(self, words, source)

    monkeypatch.setattr(Table, "decide", counted)
    monkeypatch.setattr(strips, "_MARGIN", 2.0)
    draws = strips.table(law).draws(20_000, replay(then=6))
    assert len(asked) > 100
    assert abs(draws.mean()) < 50
    assert abs(draws.std() / 1000 - 1) < 0.05


FAR = [DiscreteLaplace(2**50), DiscreteLaplace(2), DiscreteGaussian(100), Geometric(300)]


@pytest.mark.parametrize("law", FAR, ids=_name)
def test_the_far_tail_is_drawn_from_deeper_strips(law, replay):
    """All known bits of U are ones: beyond the table's last strip."""
    source = replay(then=7)
    table = strips.table(law)
    _, verdict = table.settle(*(np.array([2**64 - 1], dtype=np.uint64) for _ in range(3)))
    assert verdict.tolist() == [_DOUBT]
    value = decide(law, 0, Unfolding(2**64 - 1, 64, source), Unfolding(0, 64, source))
    assert value is not None
    reach = abs(value) / float(getattr(law, "scale", 10))
    assert reach > (8 if isinstance(law, DiscreteGaussian) else 35)


def test_tables_are_built_once_and_shared():
    assert strips.table(DiscreteLaplace("2.5")) is strips.table(DiscreteLaplace(Fraction(5, 2)))


def test_an_empty_array_draws_nothing(replay):
    assert strips.table(DiscreteLaplace(5)).draws(0, replay()).shape == (0,)


def test_single_draws_take_the_exact_path_too(replay):
    law = DiscreteGaussian(10**6)
    table = strips.table(law)
    open_cells = np.flatnonzero(table.guide == _UNSURE)
    generator = np.random.default_rng(8)
    drawn = []
    for cell in open_cells[:200].tolist():
        source = replay([cell << 48 | int(generator.integers(0, 2**48))], then=cell)
        drawn.append(table.draw(source))
        assert source.taken >= 3
    assert len(set(drawn)) > 150
