"""The tree's inner hashes: those of late from memory, older ones from tiles, so that a proof reads a few rows.

A *tile* is the hash of a complete aligned subtree of 256, 256², … leaves. Any complete subtree's hash follows from at
most 128 rows of the level below it: entries, or tiles.
"""

from __future__ import annotations

from sordino.errors import FrozenError

from .store import Reading, Store
from .tree import Frontier, aligned, leaf_hashes, node_hash, root_of

TILE = 256
LEVELS = range(1, 7)
"""Of tiles: those of entries, those of tiles of entries, and so on."""
_LEVELS = {TILE**level: level for level in LEVELS}
REMEMBERED = 1 << 16
"""Hashes that are worth remembering: about ten megabytes."""


class Nodes:
    """Hashes of complete subtrees of one ledger's tree; call it as ``tree.py`` calls its `subtree`.

    Nothing here is believed: tiles may have been tampered with, so proofs are checked against the signed root.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[tuple[int, int], bytes] = {}

    def extend(self, frontier: Frontier, leaves: list[bytes]) -> tuple[Frontier, list[tuple[int, int, bytes]]]:
        """Take in the leaves behind `frontier`; return the new frontier, and level, place and hash of complete tiles.

        If the leaves come to nothing (their commit fails), others at their positions take the place of all of this.
        **Guarantee**: what is returned follows from `frontier` and the leaves alone, and from nothing that is stored.
        """
        known, size, hashes, tiles = self._known, frontier.size, list(frontier.hashes), []
        if not known:
            known.update(zip(aligned(0, size), hashes, strict=True))
        for found in leaves:
            end, width = size + 1, 1
            known[size, end] = found
            while size & width:  # each digit 1 at the end of the size is a subtree that this leaf completes
                width <<= 1
                found = known[end - width, end] = node_hash(hashes.pop(), found)
                if width in _LEVELS:
                    tiles.append((_LEVELS[width], end // width - 1, found))
            hashes.append(found)
            size = end
        return Frontier(size, tuple(hashes)), tiles

    def forget(self, more_than: int = 0) -> None:
        """Drop everything from memory if it is more than so many hashes; what is not committed would be lost."""
        if len(self._known) > more_than:
            self._known.clear()

    def __call__(self, start: int, end: int) -> bytes:
        """Return the hash of the leaves from `start` up to `end`, a complete aligned subtree."""
        found = self._known.get((start, end))
        if found is None:
            with self._store.reading() as reading:
                found = subtree_in(reading, start, end)
            self._known[start, end] = found
        return found

    def frontier(self, size: int) -> Frontier:
        """Return the frontier of the tree when it had `size` leaves."""
        return Frontier(size, tuple(self(*part) for part in aligned(0, size)))


def subtree_in(reading: Reading, start: int, end: int) -> bytes:
    """Return the hash of a complete aligned subtree from the rows of the store."""
    width, level = end - start, 0
    while width > 1 and width % TILE == 0:
        width, level = width // TILE, level + 1
    unit = TILE**level
    rows = reading.tiles(level, start // unit, end // unit) if level else reading.bodies(start, end)
    if len(rows) != width:
        raise FrozenError(
            f"rows of the entries from {start} up to {end} are missing: somebody deleted them", "SRD-L064"
        )
    values = [row[1] for row in rows]
    return root_of(values if level else leaf_hashes(values))
