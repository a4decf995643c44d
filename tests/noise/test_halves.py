"""Draws by half words are draws by whole words of which half comes later, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from sordino.noise import DiscreteGaussian, DiscreteLaplace, Geometric, Poisson, RoundedGaussian, strips
from sordino.noise.halves import completed, guided_by_halves
from sordino.noise.strips import _ACCEPT, _DOUBT, _UNSURE, Table

NARROW = [
    DiscreteLaplace("0.001"),
    DiscreteLaplace(3),
    DiscreteLaplace("1234.5"),
    DiscreteGaussian(7),
    DiscreteGaussian(10**6),
    RoundedGaussian(2000),
    RoundedGaussian(10**12),
    RoundedGaussian(4**22),
    Geometric(5000),
    Poisson(10**5),
]
WIDE = [DiscreteLaplace(2**50), RoundedGaussian(4**23), DiscreteGaussian(2**100)]


def _halves(count):
    return np.random.default_rng(11).integers(0, 2**32, size=count, dtype=np.uint32)


def _by_halves(table, halves, replay):
    out = np.empty(len(halves), dtype=np.int32)
    words = np.append(halves, np.zeros(len(halves) % 2, dtype=np.uint32)).view(np.uint64)
    places, left = guided_by_halves(out, table._guide_of_halves, table.offset_mask, replay(words.tolist()))
    return out, places, left


@pytest.mark.parametrize("law", NARROW, ids=repr)
@pytest.mark.parametrize("count", [1, 700, 33_001])
def test_the_guide_by_halves_is_the_guide_by_words(law, count, replay):
    """Whatever the other 32 bits are, the guide leaves the same places open and says the same elsewhere."""
    table = strips.table(law)
    assert table.narrow
    halves = _halves(count)
    out, places, left = _by_halves(table, halves, replay)
    assert left.tolist() == halves[places].tolist()
    whole = completed(halves, table.width_bits, replay(then=12))
    wide = np.empty(count, dtype=np.int64)
    open_places, _ = table._by_words(wide, replay(whole.tolist()))
    assert open_places.tolist() == places.tolist()
    sure = np.setdiff1d(np.arange(count), places)
    assert out[sure].tolist() == wide[sure].tolist()


@pytest.mark.parametrize("offset_bits", [0, 1, 9, 15, 16])
def test_a_completed_word_holds_every_bit_of_its_half_and_fresh_ones_between(offset_bits, replay):
    halves, fresh = _halves(200), np.random.default_rng(13).integers(0, 2**64, size=200, dtype=np.uint64).tolist()
    words = completed(halves, offset_bits, replay(fresh)).tolist()
    for half, more, word in zip(halves.tolist(), fresh, words, strict=True):
        bits = f"{word:064b}"
        first, middle, last = (
            bits[: 32 - offset_bits],
            bits[32 - offset_bits : 64 - offset_bits],
            bits[64 - offset_bits :],
        )
        assert first + last == f"{half:032b}"
        assert middle == f"{more % 2**32:032b}"


@pytest.mark.parametrize("law", NARROW, ids=repr)
def test_what_halves_leave_open_is_decided_as_the_exact_decision_says(law, replay):
    table = strips.table(law)
    cells = np.flatnonzero(table.guide == _UNSURE).astype(np.uint32)
    halves = cells[np.arange(150) % len(cells)] << np.uint32(16) | _halves(150) & np.uint32(2**16 - 1)
    _, places, left = _by_halves(table, halves, replay)
    assert places.tolist() == list(range(150))
    first, second, third = (
        completed(left, table.width_bits, replay(then=3)),
        *np.random.default_rng(4).integers(0, 2**64, size=(2, 150), dtype=np.uint64),
    )
    values, verdict = table.settle(first, second, third)
    for i in np.flatnonzero(verdict != _DOUBT):
        expected = table.decide((int(first[i]), int(second[i]), int(third[i])), replay(then=1))
        assert expected == (values[i] if verdict[i] == _ACCEPT else None)


@pytest.mark.parametrize("law", WIDE, ids=repr)
def test_wide_laws_take_whole_words_and_int64(law, replay):
    table = strips.table(law)
    assert not table.narrow
    assert table.draws(5, replay(then=5)).dtype == np.int64


def test_narrow_laws_come_in_int32_unless_a_draw_does_not_fit(replay, monkeypatch):
    law = DiscreteGaussian(10**6)
    assert strips.table(law).draws(1000, replay(then=5)).dtype == np.int32
    assert law.fitting(1000).dtype == np.int32
    assert law.draw(1000).dtype == np.int64
    monkeypatch.setattr(strips, "_MARGIN", 2.0)  # every wedge is left to the exact decision, which says:
    monkeypatch.setattr(Table, "decide", lambda *_: 2**40)
    draws = strips.table(law).draws(5000, replay(then=5))
    assert draws.dtype == np.int64
    assert 0 < np.count_nonzero(draws == 2**40) < 500


def test_rejected_draws_are_replaced_by_spare_ones_and_then_by_fresh_ones(replay, monkeypatch):
    """Each accepted draw is used once: those in order, and in the places of the rejected ones what follows them."""
    table = strips.table(DiscreteGaussian(10**6))
    out = np.arange(20, dtype=np.int32)
    rejected = np.array([1, 4, 9, 12, 15])
    assert table._filled(out.copy(), 12, rejected, replay())[:12].tolist() == [0, 13, 2, 3, 14, 5, 6, 7, 8, 16, 10, 11]
    monkeypatch.setattr(Table, "draw", lambda *_: 77)
    few = table._filled(out[:14].copy(), 12, np.array([1, 4, 9, 12]), replay())
    assert few[:12].tolist() == [0, 13, 2, 3, 77, 5, 6, 7, 8, 77, 10, 11]
    assert table._spares(100_000) > 100_000 * table._rejected
    monkeypatch.setattr(Table, "_spares", lambda *_: 0)
    assert len(table.draws(40_000, replay(then=8))) == 40_000
