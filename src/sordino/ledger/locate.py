"""Where an edit begins: the signatures that each commit left behind say up to which size the entries are as signed.

With entries 0 to n - 1 untouched, the checkpoint of size n has the root that they give, so its signature fits; from the
first altered one on, no root is the one that was signed. So the first bad entry is found by halving, and what says so
is the key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sordino.errors import LedgerError

from .checkpoint import Checkpoint
from .entries import from_bytes
from .keys import VerifyingKey
from .nodes import TILE
from .store import Reading
from .tree import Frontier, leaf_hashes, root_of


class Roots:
    """The root at every size of the entries as they are now, from one hash for each 256 of them."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._tiles: list[bytes] = []
        self._whole = Frontier()  # of the tiles
        self._rest: list[bytes] = []  # hashes of the entries after the last complete tile

    @property
    def size(self) -> int:
        """How many entries have been taken in."""
        return len(self._tiles) * TILE + len(self._rest)

    @property
    def root(self) -> bytes:
        """The root of all that has been taken in."""
        return _grown(self._whole).extend(self._rest).root

    def extend(self, leaves: list[bytes]) -> list[bytes]:
        """Take in the next leaves; return the hashes of the tiles that they complete."""
        waiting = self._rest + leaves
        end = len(waiting) - len(waiting) % TILE
        tiles = [root_of(waiting[at : at + TILE]) for at in range(0, end, TILE)]
        self._tiles += tiles
        self._whole = self._whole.extend(tiles)
        self._rest = waiting[end:]
        return tiles

    def upper_tiles(self) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the hashes of each level above the first: one for each 256 of the level below it."""
        level, below = 1, self._tiles
        while len(below) >= TILE:
            end = len(below) - len(below) % TILE
            below = [root_of(below[at : at + TILE]) for at in range(0, end, TILE)]
            level += 1
            yield level, below

    def ahead(self, leaves: Sequence[bytes], size: int) -> bytes:
        """Return the root at `size`, which may lie up to so many `leaves` beyond what has been taken in."""
        if size <= self.size:
            return self.frontier(size).root
        return _grown(self._whole).extend([*self._rest, *leaves][: size - len(self._tiles) * TILE]).root

    def frontier(self, size: int) -> Frontier:
        """Return the frontier at an earlier size."""
        return next(self.frontiers([size]))

    def frontiers(self, sizes: Iterable[int]) -> Iterator[Frontier]:
        """Yield the frontier at each of some earlier sizes, which must not fall."""
        whole, tiles, leaves = 0, Frontier(), list[bytes]()
        for size in sizes:
            if size // TILE > whole or size - whole * TILE > len(leaves):
                tiles, whole = tiles.extend(self._tiles[whole : size // TILE]), size // TILE
                rows = self._reading.bodies(whole * TILE, min((whole + 1) * TILE, self.size))
                leaves = list(leaf_hashes(row[1] for row in rows))
            yield _grown(tiles).extend(leaves[: size - whole * TILE])


def _grown(tiles: Frontier) -> Frontier:
    """Return the frontier of the entries under complete `tiles`: as 256 is a power of two, the hashes are the same."""
    return Frontier(tiles.size * TILE, tiles.hashes)


def first_bad(reading: Reading, roots: Roots, keys: Sequence[VerifyingKey], size: int) -> tuple[int, int]:
    """Return the first position that is not as signed, and the end of those that were signed together with it."""
    good, upper, bad = 0, size, size
    while upper - good > 1:  # sizes in between may have been signed
        middle = (good + upper) // 2
        found = reading.signature(middle - 1, upper - 1)
        if found is None:
            upper = middle
            continue
        signed = found[0] + 1
        if _signed(signed, roots.frontier(signed).root, found[1], keys):
            good = signed
        else:
            bad = upper = signed
    return good, bad


def _signed(size: int, root: bytes, signature: bytes, keys: Sequence[VerifyingKey]) -> bool:
    return any(key.verify(Checkpoint(key.name, size, root).text().encode(), signature) for key in keys)


def what_is_wrong(reading: Reading, position: int, end: int) -> str:
    """Say what is wrong with the entry at `position`, the first that is not as signed."""
    among = "" if end == position + 1 else f" (or another of the entries up to {end - 1}, which were signed together)"
    ((_, body),) = reading.bodies(position, position + 1)
    try:
        entry = from_bytes(body)
    except LedgerError as error:
        return f"it was altered{among}: {error.message}"
    if entry.sequence != position:
        return f"it was put here from position {entry.sequence}: entries were reordered or deleted{among}"
    return f"it was altered{among}: it reads well, but is not what was signed"
