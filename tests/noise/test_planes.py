"""Coins by planes are those that comparing whole numbers would give, on the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sordino.errors import ArgumentError
from sordino.noise.planes import planes, toss

HEADS = [0, 1, 2**63, 2**63 - 1, 2**64 - 1, 2**64 - 2**60, 3 << 57, int(2**64 / (1 + np.e)), 12345678901234567890]


class Kept:
    """A source that keeps what it handed out."""

    def __init__(self, seed: int) -> None:
        self._draw = np.random.default_rng(seed)
        self.handed: list[Any] = []

    def word(self) -> int:
        return int(self.words(1)[0])

    def words(self, count: int) -> Any:
        found = self._draw.integers(0, 2**64, count, dtype=np.uint64)
        self.handed.append(found.copy())
        return found


WHOLE = 9


def _digits(heads: int) -> int:
    return 64 - ((heads & -heads).bit_length() - 1) if heads else 0


def _planes(heads: int, blocks: int, handed: list[Any]) -> list[Any]:
    """Return what was handed out as planes: whole ones come together, block after block."""
    whole = min(WHOLE, _digits(heads))
    if not whole:
        return handed
    together = np.hstack([block.reshape(whole, -1) for block in handed[:blocks]])
    return [*together, *handed[blocks:]]


def _reference(heads: int, count: int, handed: list[Any]) -> Any:
    """Return the coins by whole numbers: digits that were drawn, in their order, then zeros; and compare."""
    numbers = [[0] * 64 for _ in range(count)]
    open_words = list(range(count))
    decided = [[False] * 64 for _ in range(count)]
    for place, plane in enumerate(handed):
        assert len(plane) == len(open_words)
        for word, bits in zip(open_words, plane.tolist(), strict=True):
            for coin in range(64):
                digit = bits >> coin & 1
                numbers[word][coin] |= digit << (63 - place)
                decided[word][coin] |= digit != (heads >> (63 - place) & 1)
        if place >= WHOLE - 1:
            open_words = [word for word in open_words if not all(decided[word])]
    return [sum((number < heads) << coin for coin, number in enumerate(row)) for row in numbers]


@pytest.mark.parametrize("heads", HEADS)
def test_coins_are_comparisons_of_whole_numbers(heads: int) -> None:
    source = Kept(1)
    coins = np.zeros(50, dtype=np.uint64)
    toss(coins, heads, source)
    assert coins.tolist() == _reference(heads, 50, _planes(heads, 1, source.handed))


def test_coins_of_several_blocks_are_decided_together(monkeypatch: Any) -> None:
    monkeypatch.setattr("sordino.noise.planes._BLOCK", 16)
    source, heads = Kept(5), HEADS[-1]
    coins = np.zeros(50, dtype=np.uint64)
    toss(coins, heads, source)
    assert coins.tolist() == _reference(heads, 50, _planes(heads, 4, source.handed))


@pytest.mark.parametrize("heads", HEADS)
def test_no_plane_is_drawn_that_decides_nothing(heads: int) -> None:
    """As many whole planes as digits, at most nine; then fewer and fewer words."""
    source = Kept(2)
    toss(np.zeros(1000, dtype=np.uint64), heads, source)
    found = _planes(heads, 1, source.handed)
    assert len(found) <= _digits(heads)
    assert [len(plane) for plane in found[:WHOLE]] == [1000] * min(WHOLE, _digits(heads))
    assert sum(map(len, found)) <= 10_000


@pytest.mark.parametrize("heads", [2**60, 2**62, int(2**64 / (1 + np.e)), 2**63])
def test_the_share_of_ones_is_the_chance(heads: int, monkeypatch: Any) -> None:
    monkeypatch.setattr("sordino.noise.planes.SOURCE", Kept(3))
    ones = int(np.bitwise_count(planes(heads, 100_000)).sum())
    n, share = 6_400_000, heads / 2**64
    for level, holds in ((1.0, True), (0.7, False), (1.3, False)):
        wanted = n * min(share * level, 1)
        close = abs(ones - wanted) < 6 * np.sqrt(n * share)
        assert close == holds, f"n = {n}, k = {ones}, {wanted:.0f} wanted"


def test_no_coin_repeats_another(monkeypatch: Any) -> None:
    monkeypatch.setattr("sordino.noise.planes.SOURCE", Kept(4))
    coins = planes(2**63 + 1, 70_000)
    assert len(np.unique(coins)) == 70_000
    assert planes(5, 0).shape == (0,)


@pytest.mark.parametrize(("heads", "count"), [(-1, 1), (2**64, 1), (0.5, 1), (1, -1), (1, True)])
def test_wrong_words_are_refused(heads: Any, count: Any) -> None:
    with pytest.raises(ArgumentError):
        planes(heads, count)
