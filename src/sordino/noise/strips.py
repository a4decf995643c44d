"""Every log-concave law at array speed: a guide table for the bulk, exact decisions for the rest.

The construction, and why its outcome is exact, is in `partition`. Here is how the same outcome is found fast. The first
word of a draw gives the first 64 - j bits of U (which strip) and the j bits of the offset (which integer of the block):

1. *Guide.* The first 16 bits of U name a cell of [0, 1). Where the whole cell certainly lies in one box, the draw is
   done: the box's lowest integer plus the offset. That is so for 96 % of draws and more. The guide does not look at
   the other bits of the word, so in arrays they are drawn only where it leaves the draw open: for j ≤ 16 half a word
   is all that other draws take (`halves`).
2. *Search.* Otherwise a second word gives U to 64 bits, which is compared with the bounds of the edges as integers.
3. *Wedges.* In a wedge a third word gives V to 64 bits. A law that knows how far ln f falls from a node to x, in
   floats, says so (`falls`). Else log-concavity bounds ln f inside a block by straight lines: from below by the chord
   between the block's nodes, from above by the chords of the two neighbouring blocks, extended. Either is evaluated in
   float64. Below the lower bound the point is accepted, above the upper one it is rejected.
4. *Exact.* Whatever is left (one draw in 10^4 or fewer: between the bounds, at an edge, in the far tail) is handed with
   its bits to `partition.decide`, which reveals more of U and V as it needs them.

Each of the first three steps only ever says what `decide` would say of the same bits, so the mixture of them is
`decide`.

**The margin of step 3.** Every quantity that decides there lies in [0, 1]. The heights behind it are known to 2**-46
of themselves (else they are NaN and decide nothing), so a fall is off by 2**-45 and e to it by as much. Falls are below
2**7, so the few float64 operations on an exponent, each off by 2**-53 of it, add less than 2**-44; one ``exp`` and one
``log`` are allowed 2**-45 each (they are good to about 2**-52). The sum is below 2**-42; the comparison demands a
distance of 2**-40. A law's own `falls` are bounds but for 2**-50 of themselves, and x·2**-50·e^-x is below 2**-51.

A rejected position takes the next one of some spare draws, or is drawn again from fresh words. The time a draw takes
depends on its outcome; `known limits`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .enclosure import Enclosure
from .halves import CELL_BITS, MOST_OFFSET_BITS, OPEN, completed, guided_by_halves
from .keystream import BitSource, Words
from .partition import FIRST_DEPTH, Floats, Law, Partition, Unfolding, decide, partition

Integers = NDArray[np.int64]
Fitting = NDArray[Any]
"""Whole numbers in int32 where all of them fit, which takes half the memory, else in int64."""

_CELL_SHIFT = 64 - CELL_BITS
_UNSURE = np.iinfo(np.int64).min  # in the guide: this cell does not lie in one box
_NARROW = np.iinfo(np.int32)
_CHUNK = 1 << 15  # words drawn at once: they and the guide stay in the processor's cache
_MARGIN = 2.0**-40
_ACCEPT, _REJECT, _DOUBT = 1, 0, -1
_FEW = 32  # as many draws are sooner made one by one than as an array
_SPARE = 6  # standard deviations by which there are more spare draws than rejections


class Table:
    """What the fast steps need to know of one law; immutable once built, so threads may share it."""

    def __init__(self, law: Law) -> None:
        level = partition(law, FIRST_DEPTH)
        self.law = law
        self.width_bits = law.width_bits
        self.offset_mask = (1 << law.width_bits) - 1
        self.mode = law.mode
        largest = (1 << FIRST_DEPTH) - 1
        # An edge at 2**64 is cut to 2**64 - 1, which no word is strictly below: such words are left to `decide`.
        self.below = np.array([min(edge, largest) for edge in level.below] + [0], dtype=np.uint64)
        self.above = np.array([min(edge, largest) for edge in level.above], dtype=np.uint64)
        self.low = np.array([strip.low for strip in level.strips] + [0], dtype=np.int64)
        self.wedge = np.array([strip.wedge for strip in level.strips] + [False])
        self.leftward = np.array([strip.direction < 0 for strip in level.strips] + [False])
        self.guide = self._guide()
        self.guide_view = memoryview(self.guide.data)
        furthest = max(abs(strip.low) for strip in level.strips) + self.offset_mask
        self.narrow = law.width_bits <= MOST_OFFSET_BITS and furthest <= _NARROW.max
        self._guide_of_halves = np.where(self.guide == _UNSURE, OPEN, self.guide).astype(np.int32)
        self._rejected = self._rejections()
        self._lines(level)

    def _rejections(self) -> float:
        """Return about how often a draw is rejected: half the wedges."""
        edges = np.append(0.0, self.below[:-1].astype(np.float64) * 2.0**-64)
        return float(np.diff(edges)[self.wedge[:-1]].sum()) / 2

    def _guide(self) -> Integers:
        first = np.arange(1 << CELL_BITS, dtype=np.uint64) << np.uint64(_CELL_SHIFT)
        last = first | np.uint64((1 << _CELL_SHIFT) - 1)
        strip = np.searchsorted(self.above, first, side="right")
        sure = (self.below[strip] > last) & ~self.wedge[strip]
        return np.where(sure, self.low[strip], _UNSURE)

    def _lines(self, level: Partition) -> None:
        """Store, per strip, how much ln f falls over its block, the block before it and the block after it."""
        falls = {1: _falls(level.nodes[1])}
        if -1 in level.nodes:
            falls[-1] = falls[1] if self.law.symmetric else _falls(level.nodes[-1])
        self.outer = np.ones(len(self.low))
        self.fall = np.zeros(len(self.low))
        self.fall_before = np.zeros(len(self.low))
        self.fall_after = np.zeros(len(self.low))
        blocks = np.array([strip.block for strip in level.strips])
        directions = np.array([strip.direction for strip in level.strips])
        for direction, fall in falls.items():
            mine = np.flatnonzero(directions == direction)
            block = blocks[mine]
            self.fall[mine] = fall[block]
            self.outer[mine] = np.exp(-fall[block])
            self.fall_before[mine] = np.where(block > 0, fall[block - 1], 0.0)
            self.fall_after[mine] = fall[block + 1]

    def settle(self, words: Words, second: Words, third: Words) -> tuple[Integers, NDArray[np.int8]]:
        """Return the integers that the words choose, and the verdict on each (steps 2 and 3)."""
        mask = np.uint64(self.offset_mask)
        offset = (words & mask).view(np.int64)
        u = words & ~mask | second >> np.uint64(64 - self.width_bits) if self.width_bits else words
        strip = np.searchsorted(self.above, u, side="right")
        verdict = np.where(self.below[strip] > u, _ACCEPT, _DOUBT).astype(np.int8)
        wedge = np.flatnonzero(self.wedge[strip] & (verdict == _ACCEPT))
        verdict[wedge] = self._wedge_verdicts(strip[wedge], offset[wedge], third[wedge])
        return self.low[strip] + offset, verdict

    def _wedge_verdicts(self, strip: Integers, offset: Integers, v: Words) -> NDArray[np.int8]:
        outer = self.outer[strip]
        height = outer + v.astype(np.float64) * 2.0**-64 * (1.0 - outer)
        lower, upper = self._weights(strip, offset, outer)
        verdict = np.full(len(strip), _DOUBT, dtype=np.int8)
        verdict[height + _MARGIN < lower] = _ACCEPT
        verdict[height - _MARGIN > upper] = _REJECT
        return verdict

    def _weights(self, strip: Integers, offset: Integers, outer: Floats) -> tuple[Floats, Floats]:
        """Return bounds for f(x)/f(inner node); NaN bounds nothing, and no comparison with it holds."""
        width = 1 << self.width_bits
        beyond = np.where(self.leftward[strip], width - offset, offset)  # how far x is from the inner node
        node = np.where(self.leftward[strip], self.mode - self.low[strip] - width, self.low[strip] - self.mode)
        falls = self.law.falls(node, beyond)
        if falls is not None:
            least, most = falls
            return np.exp(-most), np.exp(-least)
        share = beyond / float(width)
        with np.errstate(invalid="ignore", over="ignore"):  # 0 · inf is NaN
            chord = np.exp(-share * self.fall[strip])
            from_before = np.exp(-share * self.fall_before[strip])
            from_after = outer * np.exp((1.0 - share) * self.fall_after[strip])
        return chord, np.fmin(from_before, from_after)

    def decide(self, words: tuple[int, int, int], source: BitSource) -> int | None:
        """Return the integer that the three words choose, or None if it is rejected (step 4)."""
        first, second, third = words
        where = Unfolding(first >> self.width_bits << 64 | second, 128 - self.width_bits, source)
        return decide(self.law, first & self.offset_mask, where, Unfolding(third, 64, source))

    def draw(self, source: BitSource) -> int:
        """Return one draw."""
        while True:
            word = source.word()
            low = self.guide_view[word >> _CELL_SHIFT]
            if low != _UNSURE:
                return int(low + (word & self.offset_mask))
            chosen = self.decide((word, source.word(), source.word()), source)
            if chosen is not None:
                return chosen

    def draws(self, count: int, source: BitSource) -> Fitting:
        """Return `count` draws: in int32 where the table is narrow and all of them fit, else in int64."""
        out: Fitting = np.empty(count + self._spares(count), dtype=np.int32 if self.narrow else np.int64)
        places, words = self._guided(out, source)
        if len(places):
            values, verdict = self.settle(words, second := source.words(len(words)), third := source.words(len(words)))
            for doubtful in np.flatnonzero(verdict == _DOUBT).tolist():
                chosen = self.decide((int(words[doubtful]), int(second[doubtful]), int(third[doubtful])), source)
                verdict[doubtful] = _REJECT if chosen is None else _ACCEPT
                values[doubtful] = 0 if chosen is None else chosen
                if chosen is not None and not _NARROW.min <= chosen <= _NARROW.max:
                    out = out.astype(np.int64)
            out[places] = values
            out = self._filled(out, count, places[verdict == _REJECT], source)
        return out[:count]

    def _spares(self, count: int) -> int:
        """Return how many draws more than `count` will do, mostly, to replace those that are rejected."""
        expected = count * self._rejected
        return math.ceil(expected + _SPARE * math.sqrt(expected)) if count > _FEW else 0

    def _filled(self, out: Fitting, count: int, rejected: Integers, source: BitSource) -> Fitting:
        """Put accepted draws, of those beyond `count` and then fresh ones, in the places of those that were rejected.

        Every draw is accepted or rejected by its own words alone, so the accepted ones, in any fixed order, are
        independent draws of the law.
        """
        holes = rejected[rejected < count]
        kept = np.ones(len(out) - count, dtype=np.bool_)
        kept[rejected[len(holes) :] - count] = False
        spare = out[count:][kept][: len(holes)]
        out[holes[: len(spare)]] = spare
        left = holes[len(spare) :]
        if len(left):
            again = np.array([self.draw(source) for _ in left]) if len(left) <= _FEW else self.draws(len(left), source)
            out = out.astype(np.result_type(out, again), copy=False)
            out[left] = again
        return out

    def _guided(self, out: Fitting, source: BitSource) -> tuple[Integers, Words]:
        """Fill `out` by step 1; return the places that it leaves open, ascending, and their words."""
        if self.narrow:
            places, halves = guided_by_halves(out, self._guide_of_halves, self.offset_mask, source)
            return places, completed(halves, self.width_bits, source)
        return self._by_words(out, source)

    def _by_words(self, out: Fitting, source: BitSource) -> tuple[Integers, Words]:
        places, open_words = [np.empty(0, np.int64)], [np.empty(0, np.uint64)]
        shift, mask = np.uint64(_CELL_SHIFT), np.uint64(self.offset_mask)
        cells = np.empty(min(_CHUNK, len(out)), dtype=np.uint64)
        for start in range(0, len(out), _CHUNK):
            part = out[start : start + _CHUNK]
            words = source.words(len(part))
            cell = np.right_shift(words, shift, out=cells[: len(part)])
            # Every cell is in range; "clip" only spares take() the copy that "raise" would make.
            np.take(self.guide, cell.view(np.int64), out=part, mode="clip")
            unsure = np.flatnonzero(part == _UNSURE)
            places.append(unsure + start)
            open_words.append(words[unsure])
            part += np.bitwise_and(words, mask, out=words).view(np.int64)
        return np.concatenate(places), np.concatenate(open_words)


def _falls(heights: list[Enclosure]) -> Floats:
    """Return ln(f(node i)/f(node i+1)), then infinity past the last node; NaN where a height is not known to 2**-46."""
    known = [low if low >> 46 >= high - low else math.nan for low, high in heights]
    ratios = [after / before if before else math.nan for before, after in pairwise(known)]
    with np.errstate(divide="ignore"):
        return np.append(-np.log(np.array(ratios)), np.inf)


@lru_cache(maxsize=32)
def table(law: Law) -> Table:
    """Return the law's table, built on first use."""
    return Table(law)
