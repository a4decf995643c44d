"""The Merkle tree over the entries: its hashes, and what proves that an entry is in it or that it only grew.

A leaf hashes as SHA-256(0x00 ‖ data), a node as SHA-256(0x01 ‖ left ‖ right); a tree of n leaves has a left child of
k leaves, k the largest power of two below n. So a leaf never passes for a node, and every size has one shape.

**Guarantee.** As long as nobody finds two inputs of SHA-256 with one hash: a root and a size fix every leaf;
`verify_inclusion` says yes only for the leaf at that index; `verify_consistency` says yes only if the first `old_size`
leaves of both trees are the same. Neither raises, whatever is in a proof.
**Assumes.** Each root comes with its size from one who knows the tree, as in a signed checkpoint: a proof does not say
how large a tree is (what proves leaf 0 of three leaves would pass for a proof in four).
**Source.** B. Laurie, A. Langley, E. Kasper, *Certificate Transparency*, RFC 6962 (2013), section 2.1; the verification
of RFC 9162 (2021), sections 2.1.3.2 and 2.1.4.2.

*Subtrees* as functions: what builds proofs takes ``subtree(start, end)``, which returns the hash of the leaves from
`start` up to `end`, asked only for complete aligned ones: ``end - start`` is a power of two that divides `start`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sordino.errors import ArgumentError, LedgerError

HASH_BYTES = 32
EMPTY_ROOT = hashlib.sha256(b"").digest()
"""The root of the tree without leaves."""
LARGEST_SIZE = 2**53 - 1
"""The most leaves that a tree may have: sizes are numbers in canonical JSON."""

Subtree = Callable[[int, int], bytes]

_sha256 = hashlib.sha256


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of one entry's bytes."""
    return _sha256(b"\x00" + data).digest()


def leaf_hashes(entries: Iterable[bytes]) -> list[bytes]:
    """Return the hash of each entry's bytes: `leaf_hash`, in bulk."""
    return [_sha256(b"\x00" + data).digest() for data in entries]


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of the node over two subtrees."""
    return _sha256(b"\x01" + left + right).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root of the tree whose leaves have these hashes."""
    return Frontier().extend(hashes).root


@dataclass(frozen=True, slots=True)
class Frontier:
    """All that must be remembered of a tree to let it grow: one hash for each binary digit 1 of its size.

    The hashes are those of the complete subtrees that make up the tree, the largest (leftmost) first.

    >>> Frontier().append(leaf_hash(b"first")).append(leaf_hash(b"second")).size
    2
    """

    size: int = 0
    hashes: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.size <= LARGEST_SIZE or len(self.hashes) != self.size.bit_count():
            raise ArgumentError("a frontier has one hash for each binary digit 1 of its size", "SRD-A003")

    def append(self, leaf: bytes) -> Frontier:
        """Return the frontier of the tree with one more leaf, given by its hash."""
        return self.extend((leaf,))

    def extend(self, leaves: Sequence[bytes]) -> Frontier:
        """Return the frontier of the tree with these leaves (given by their hashes) appended, level by level."""
        own, kept = list(self.hashes), []
        level, digits = list(leaves), self.size
        while level or digits:
            if digits & 1:
                level.insert(0, own.pop())
            if len(level) & 1:
                kept.append(level.pop())
            pairs = iter(level)
            level = [_sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
            digits >>= 1
        return Frontier(self.size + len(leaves), tuple(reversed(kept)))

    @property
    def root(self) -> bytes:
        """The root of the tree."""
        return _joined(self.hashes) if self.size else EMPTY_ROOT

    def to_bytes(self) -> bytes:
        """Return the size in eight bytes, big end first, and the hashes."""
        return self.size.to_bytes(8, "big") + b"".join(self.hashes)

    @staticmethod
    def from_bytes(data: bytes) -> Frontier:
        """Return the frontier that `to_bytes` spelt, or raise `LedgerError`."""
        size, rest = int.from_bytes(data[:8], "big"), data[8:]
        if len(data) < 8 or size > LARGEST_SIZE or len(rest) != HASH_BYTES * size.bit_count():
            raise LedgerError("these bytes are not the frontier of a tree: the length is wrong", "SRD-L002")
        return Frontier(size, tuple(rest[at : at + HASH_BYTES] for at in range(0, len(rest), HASH_BYTES)))


class Paths:
    """Inclusion proofs in the tree of one size; what several of them have in common is found once."""

    def __init__(self, size: int, subtree: Subtree) -> None:
        self._size = size
        self._subtree = subtree
        self._edge: dict[int, bytes] = {}
        """By the first leaf: hashes of what ends the tree without being a complete subtree; few, and in most proofs."""

    def __call__(self, index: int) -> tuple[bytes, ...]:
        """Return the hashes that lead from the leaf at `index` to the root, lowest first."""
        size, subtree, hashes = self._size, self._subtree, []
        if not 0 <= index < size <= LARGEST_SIZE:
            raise ArgumentError(f"a tree of {size} leaves has none at index {index}", "SRD-A002")
        width = 1
        while width < size:
            start = (index & -width) ^ width  # of the sibling of the subtree of this width that the leaf is in
            end = start + width
            if end <= size:
                hashes.append(subtree(start, end))
            elif start < size:
                if start not in self._edge:
                    self._edge[start] = _range_hash(start, size, subtree)
                hashes.append(self._edge[start])
            width <<= 1
        return tuple(hashes)


def inclusion_proof(index: int, size: int, subtree: Subtree) -> tuple[bytes, ...]:
    """Return the hashes that lead from the leaf at `index` to the root of the tree of `size` leaves, lowest first."""
    return Paths(size, subtree)(index)


def consistency_proof(old_size: int, new_size: int, subtree: Subtree) -> tuple[bytes, ...]:
    """Return the hashes that show the tree of `old_size` leaves to be the beginning of that of `new_size`.

    Nothing needs to be shown, and the proof is empty, where the sizes are equal or the old tree was empty.
    """
    if not 0 <= old_size <= new_size <= LARGEST_SIZE:
        raise ArgumentError(f"a tree of {new_size} leaves cannot extend one of {old_size}", "SRD-A002")
    if old_size in (0, new_size):
        return ()
    start, end, hashes = 0, new_size, []
    while end != old_size:
        middle = start + _left_size(end - start)
        if old_size <= middle:
            hashes.append(_range_hash(middle, end, subtree))
            end = middle
        else:
            hashes.append(_range_hash(start, middle, subtree))
            start = middle
    if start:  # otherwise the old tree is itself a subtree on the way, whose root the verifier has
        hashes.append(_range_hash(start, end, subtree))
    return tuple(reversed(hashes))


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Return whether the leaf with hash `leaf` is at `index` in the tree of `size` leaves with this `root`."""
    if not 0 <= index < size <= LARGEST_SIZE or not _are_hashes((leaf, root, *proof)):
        return False
    node, last, found, left = index, size - 1, leaf, iter(proof)
    while last:
        if node & 1 or node < last:
            sibling = next(left, None)
            if sibling is None:
                return False
            found = node_hash(sibling, found) if node & 1 else node_hash(found, sibling)
        node, last = node >> 1, last >> 1
    return next(left, None) is None and found == root


def verify_consistency(old_size: int, old_root: bytes, new_size: int, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Return whether the tree with `old_root` is the beginning of the tree with `new_root`.

    The empty tree is the beginning of every tree; it has one root, and the proof is empty.
    """
    if not 0 <= old_size <= new_size <= LARGEST_SIZE or not _are_hashes((old_root, new_root, *proof)):
        return False
    if old_size == 0:
        return not proof and old_root == EMPTY_ROOT and (new_size > 0 or new_root == EMPTY_ROOT)
    if old_size == new_size:
        return not proof and old_root == new_root
    left = iter(proof)
    node, last = old_size - 1, new_size - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    first = next(left, None) if node else old_root
    if first is None:
        return False
    old = new = first
    while last:
        if node & 1 or node < last:
            sibling = next(left, None)
            if sibling is None:
                return False
            if node & 1:
                old, new = node_hash(sibling, old), node_hash(sibling, new)
            else:
                new = node_hash(new, sibling)
        node, last = node >> 1, last >> 1
    return next(left, None) is None and old == old_root and new == new_root


def aligned(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the complete aligned subtrees that make up the leaves from `start` up to `end`, from left to right."""
    while start < end:
        width = 1 << (end - start).bit_length() - 1
        if start:
            width = min(width, start & -start)
        yield start, start + width
        start += width


def _left_size(size: int) -> int:
    """Return the largest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1


def _range_hash(start: int, end: int, subtree: Subtree) -> bytes:
    width = end - start
    if not width & (width - 1):  # in a tree, what is a power of two wide is also aligned
        return subtree(start, end)
    return _joined([subtree(*part) for part in aligned(start, end)])


def _joined(hashes: Sequence[bytes]) -> bytes:
    """Return the root over complete subtrees whose sizes fall from left to right."""
    found = hashes[-1]
    for hash_to_the_left in reversed(hashes[:-1]):
        found = node_hash(hash_to_the_left, found)
    return found


def _are_hashes(values: Iterable[bytes]) -> bool:
    return all(isinstance(value, bytes) and len(value) == HASH_BYTES for value in values)
