"""What was released under a ledger's charges: put away, found again, and proven by receipts."""

from __future__ import annotations

from functools import lru_cache

from sordino.accounting.plan import Files
from sordino.errors import ArgumentError, LedgerError

from .cosignatures import Cosignatures
from .entries import Part, Reserved, Settled, from_bytes, part_row, position_of
from .files import FileStore
from .log import Log
from .manifest import Manifest
from .receipt import Placed, Receipt, release_digest
from .reservation import Reservation
from .state import State, rules_of
from .store import IN_A_FILE, Head, Release
from .tree import Paths


class Releases:
    """The bodies of releases in rows, and what is too large for one in files.

    **Guarantee**: what is returned is, byte for byte, what an entry of the ledger says was released.
    """

    def __init__(self, log: Log, files: FileStore) -> None:
        self._log = log
        self.files = files
        self.cosignatures = Cosignatures(log)
        self._ruling = lru_cache(maxsize=1024)(self.entry)  # the same few entries are in many receipts
        self._shown: tuple[str, Paths, dict[int, Placed]] = ("", Paths(0, log.nodes), {})
        """The checkpoint of the newest receipt, proofs and rules under it: in common to those who settled together."""

    def put(self, release: bytes, files: Files) -> tuple[str, bytes, Manifest]:
        """Write what is large to files; return the digest of the body, what its row is to hold, and the manifest."""
        if not isinstance(release, bytes):
            raise ArgumentError(f"release must be the released body as bytes, not {type(release).__name__}", "SRD-A001")
        manifest = self.files.put_all(files)
        if self.files.keeps(release):
            return self.files.put(release)[0], IN_A_FILE, manifest
        return release_digest(release), release, manifest

    def body(self, name: str) -> bytes:
        """Return what was released under a reservation, or as a part of one."""
        kept, entry = self._kept(name)
        return kept.body if release_digest(kept.body) == entry.release else self.files.read(entry.release)

    def recorded(self, identifier: str, number: int) -> bytes | None:
        """Return what was recorded as a part of a reservation, or None."""
        name = part_row(identifier, number)
        with self._log.store.reading() as reading:
            known = reading.release(name)
        return None if known is None else self.body(name)

    def receipt(self, name: str, head: Head, state: State) -> Receipt:
        """Return the receipt for what was settled, under the newest checkpoint that was cosigned, or a signed head."""
        kept = self._kept(name)[0]
        seen = self.cosignatures.newest(kept.settled)
        shown = head if seen is None else Head(seen[0], b"", seen[1])
        return self.receipt_for(kept, shown, state)

    def receipt_for(
        self, kept: Release, head: Head, state: State, held: Reservation | None = None, settled: bytes | None = None
    ) -> Receipt:
        """Return the receipt for a row; the entries are read where they are not given."""
        place, (paths, shown) = position_of(kept.id), self._under(head)
        charge = self.entry(place) if held is None else held.body
        reserved = from_bytes(charge) if held is None else held.entry
        if not isinstance(reserved, Reserved):
            raise LedgerError(f"entry {place} is no charge, so there is no receipt for it", "SRD-L072")
        return Receipt(
            charge,
            paths(place),
            settled or self.entry(kept.settled),
            paths(kept.settled),
            head.note,
            self._log.key.verifier.text,
            None if kept.body == IN_A_FILE else kept.body,
            tuple([shown.get(each) or self._show(each, paths, shown) for each in rules_of(reserved, state)]),
        )

    def _show(self, position: int, paths: Paths, shown: dict[int, Placed]) -> Placed:
        shown[position] = found = Placed(self._ruling(position), paths(position))
        return found

    def _under(self, head: Head) -> tuple[Paths, dict[int, Placed]]:
        note, paths, shown = self._shown
        if note != head.note:
            paths, shown = Paths(head.size, self._log.nodes), {}
            self._shown = head.note, paths, shown
        return paths, shown

    def entry(self, position: int) -> bytes:
        """Return the canonical bytes of one entry."""
        with self._log.store.reading() as reading:
            rows = reading.bodies(position, position + 1)
        if not rows:
            raise LedgerError(f"this ledger has no entry {position}", "SRD-L070")
        return bytes(rows[0][1])

    def _kept(self, name: str) -> tuple[Release, Settled | Part]:
        """Return the row of a release and the entry that it is by, if it is what the entry says."""
        with self._log.store.reading() as reading:
            kept = reading.release(name)
        if kept is not None:
            entry = from_bytes(self.entry(kept.settled))
            if isinstance(entry, Settled | Part) and entry.row == name and _may_be(entry.release, kept.body):
                return kept, entry
        raise LedgerError(
            f"nothing that was settled is kept under {name[:80]!r}: it was never released, or altered since",
            "SRD-L072",
        )


def _may_be(digest: str, body: bytes) -> bool:
    """Return whether a row holds the body of a digest, or says that it is a file."""
    return body == IN_A_FILE or release_digest(body) == digest
