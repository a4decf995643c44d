"""Forks, told from what two people hold: checkpoints, or receipts, that one key has signed.

A ledger that shows one history to one and another to the other must sign both. Whoever holds one of each has the proof:
two roots of one size that differ, or two hashes of one part of the tree. A receipt tells many of these: the hashes of
its proofs are those of whole parts of the tree, and so are those on the ways from its entries to the root.

**Guarantee**: "fork" is said only if the key has signed two histories of which neither begins the other; "same" and
"extends" only if the larger tree begins with the smaller one. What is held may not say; then neither is said, and a
proof of consistency decides (`proof`, from whoever has the ledger).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sordino.errors import LedgerError

from .checkpoint import Checkpoint
from .entries import from_bytes
from .keys import VerifyingKey
from .receipt import Receipt, verify_receipt
from .tree import Frontier, aligned, leaf_hash, node_hash, verify_consistency

Verdict = Literal["same", "extends", "fork", "undecided"]

Part = tuple[int, int]
"""The leaves of a complete subtree: from, and up to but not including."""


@dataclass(frozen=True)
class Held:
    """What somebody holds: a signed checkpoint, and hashes of parts of its tree."""

    checkpoint: Checkpoint
    parts: dict[Part, bytes]

    @staticmethod
    def read(text: str, key: VerifyingKey) -> Held:
        """Return what a checkpoint or a receipt says, if `key` signed it; raise `LedgerError` otherwise."""
        if not text.lstrip().startswith("{"):
            return Held._of(Checkpoint.open(text, key), {})
        receipt = Receipt.from_json(text.removesuffix("\n"))
        checkpoint = verify_receipt(receipt, key.text).checkpoint
        placed = [(receipt.reserved, receipt.reserved_proof), (receipt.settled, receipt.settled_proof), *receipt.rules]
        parts = {part: found for entry, proof in placed for part, found in _on_the_way(entry, proof, checkpoint.size)}
        return Held._of(checkpoint, parts)

    @staticmethod
    def _of(checkpoint: Checkpoint, parts: dict[Part, bytes]) -> Held:
        size = checkpoint.size
        whole = {(0, size): checkpoint.root} if size and not size & (size - 1) else {}
        return Held(checkpoint, parts | whole)

    def root_at(self, size: int) -> bytes | None:
        """Return the root of the first `size` entries, if what is held says it."""
        parts = list(aligned(0, size))
        if size == self.checkpoint.size:
            return self.checkpoint.root
        if not all(part in self.parts for part in parts):
            return None
        return Frontier(size, tuple(self.parts[part] for part in parts)).root


@dataclass(frozen=True)
class Comparison:
    """Whether two that were held are of one history, and why."""

    verdict: Verdict
    reason: str


def compare(
    one: Held, other: Held, proof: Sequence[bytes] | None = None, root_at: Callable[[int], bytes | None] | None = None
) -> Comparison:
    """Return whether what two people hold is of one history; both are signed by the same key for the same log.

    `proof` is one of consistency; `root_at` gives the root of a ledger at a size, None where it is shorter.
    """
    smaller, larger = sorted((one, other), key=lambda held: held.checkpoint.size)
    old, new = smaller.checkpoint, larger.checkpoint
    if old.origin != new.origin:
        raise LedgerError(
            f"{old.origin:.200} and {new.origin:.200} are two ledgers, and cannot be compared", "SRD-L007"
        )
    for part in sorted(smaller.parts.keys() & larger.parts.keys()):
        if smaller.parts[part] != larger.parts[part]:
            return Comparison("fork", f"entries {part[0]} to {part[1] - 1} differ, and the key has signed both")
    if old.size == new.size:
        if old.root == new.root:
            return Comparison("same", f"both are of the same {old.size} entries")
        return Comparison("fork", f"the key has signed two different histories of {old.size} entries")
    found = larger.root_at(old.size)
    if found is None and root_at is not None and root_at(new.size) == new.root:
        found = root_at(old.size)
    if found is not None and found != old.root:
        return Comparison("fork", f"the first {old.size} entries differ, and the key has signed both")
    extends = found is not None or old.size == 0
    if extends or (proof is not None and verify_consistency(old.size, old.root, new.size, new.root, proof)):
        return Comparison("extends", f"the {new.size} entries of one begin with the {old.size} of the other")
    return Comparison(
        "undecided",
        f"what is held does not say whether {new.size} entries begin with the {old.size} others"
        + (", and the proof does not show it" if proof is not None else "; ask for a proof of consistency"),
    )


def _on_the_way(entry: bytes, proof: Sequence[bytes], size: int) -> Iterator[tuple[Part, bytes]]:
    """Yield the complete parts of the tree whose hashes a proof of inclusion shows or leads through."""
    index, rest = from_bytes(entry).sequence, iter(proof)
    found: bytes | None = leaf_hash(entry)
    width = 1
    while True:
        start = index & -width
        found = found if start + width <= size else None
        if found is not None:
            yield (start, start + width), found
        if width >= size:
            return
        beside = start ^ width
        sibling = next(rest, None) if beside < size else None
        if sibling is not None and beside + width <= size:
            yield (beside, beside + width), sibling
        if found is not None and sibling is not None:
            found = node_hash(sibling, found) if beside < start else node_hash(found, sibling)
        width <<= 1
