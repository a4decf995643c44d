"""Where a report reads from: a ledger on this machine, or a service whose owner or auditor asks.

Both give the same: entries as they are hashed, the newest signed checkpoint, proofs, and what was released.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from sordino.errors import ArgumentError, LedgerError
from sordino.ledger.canonical import to_base64
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.entries import Entry, from_bytes, to_bytes
from sordino.ledger.keys import VerifyingKey
from sordino.ledger.receipt import Receipt
from sordino.ledger.tree import Frontier, leaf_hashes
from sordino.serve.refusals import ForbiddenError

if TYPE_CHECKING:
    from sordino.ledger.ledger import Ledger
    from sordino.serve.afar.client import Connection

_PAGE = 1000


class Source(Protocol):
    """What a report is made from."""

    @property
    def key(self) -> str:
        """The ledger's public key."""

    @property
    def note(self) -> str:
        """The signed checkpoint under which everything is read."""

    def entries(self) -> Iterator[Entry]:
        """Yield all entries under the checkpoint."""

    def proof(self, position: int) -> list[str]:
        """Return the proof that an entry is under the checkpoint, in base64."""

    def receipt(self, identifier: str) -> Receipt:
        """Return the receipt of a release."""


class LedgerSource:
    """A ledger that is open here."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.key = ledger.key.text
        self.note = ledger.checkpoint()
        self._size = Checkpoint.open(self.note, ledger.key).size

    def entries(self) -> Iterator[Entry]:
        """Yield all entries under the checkpoint."""
        return self._ledger.entries(0, self._size)

    def proof(self, position: int) -> list[str]:
        """Return the proof that an entry is under the checkpoint."""
        return [to_base64(each) for each in self._ledger.inclusion(position, self._size)]

    def receipt(self, identifier: str) -> Receipt:
        """Return the receipt of a release."""
        found = self._ledger.receipt(identifier)
        return found if found.release is not None else replace(found, release=self._ledger.release(identifier))


class ServiceSource:
    """A service, asked by somebody who may see the whole ledger: its owner, or an auditor of all data sets.

    **Guarantee**: all entries were hashed here and make up the root of the checkpoint, which is signed; by the key that
    the connection was given, where it was given one. So nothing that the ledger holds was left out or altered.
    """

    def __init__(self, connection: Connection) -> None:
        self._remote = connection.remote
        found = self._remote.get("/ledger/checkpoint")
        self.key, self.note = str(found["key"]), str(found["note"])
        if connection.key is not None and connection.key != self.key:
            raise LedgerError("the service shows another ledger than the one whose key was given", "SRD-L009")
        self._checkpoint = Checkpoint.open(self.note, VerifyingKey.parse(self.key))
        self._size = self._checkpoint.size

    def entries(self) -> Iterator[Entry]:
        """Yield all entries under the checkpoint; refuse, at the end, what does not make up its root."""
        tree = Frontier()
        for start in range(0, self._size, _PAGE):
            found = self._remote.get("/ledger/entries", start=start, end=min(start + _PAGE, self._size))
            bodies = [str(each["canonical"]).encode() for each in found["entries"]]
            tree = tree.extend(leaf_hashes(bodies))
            yield from map(from_bytes, bodies)
        if tree.root != self._checkpoint.root:
            raise LedgerError("the entries that the service shows are not those that its checkpoint signs", "SRD-L009")

    def may_read(self) -> bool:
        """Return whether the token may see the ledger's entries."""
        try:
            self._remote.get("/ledger/entries", start=0, end=0)
        except ForbiddenError:
            return False
        return True

    def proof(self, position: int) -> list[str]:
        """Return the proof that an entry is under the checkpoint."""
        return list(self._remote.get("/ledger/inclusion", position=position, size=self._size)["proof"])

    def receipt(self, identifier: str) -> Receipt:
        """Return the receipt of a release."""
        return Receipt.from_json(self._remote.receipt(identifier))


def enclosed(source: Source, position: int, entry: Entry) -> dict[str, Any]:
    """Return an entry as a report encloses it: its bytes as text, its place, and the proof."""
    return {"position": position, "entry": to_bytes(entry).decode(), "proof": source.proof(position)}


def released_body(receipt: Receipt) -> dict[str, Any]:
    """Return what was released, as JSON; nothing where it is no JSON object."""
    try:
        body = json.loads(receipt.release or b"{}")
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def source_of(given: Any) -> Source | Connection:
    """Return where to read from: a source, or the connection itself where its token may not see the ledger's entries.

    `given` is what ``so.open`` or ``so.connect`` returned, one of their accounts, or a `Ledger`.
    """
    from sordino.data.account import DataAccount
    from sordino.gate import Gate
    from sordino.ledger.account import LedgerAccount
    from sordino.ledger.ledger import Ledger
    from sordino.serve.afar.client import Connection, RemoteAccount
    from sordino.serve.local import House

    match given:
        case Ledger():
            return LedgerSource(given)
        case House():
            return LedgerSource(given.ledger)
        case DataAccount(account=Gate(account=account)) | DataAccount(account=LedgerAccount() as account):
            return LedgerSource(account.ledger)
        case RemoteAccount():
            return source_of(given.house)
        case Connection():
            source = ServiceSource(given)
            return source if source.may_read() else given
    raise ArgumentError(
        f"a report is made from what so.open(…) or so.connect(…) returned, or from a ledger, not from a "
        f"{type(given).__name__}; an account in memory has no ledger to report on",
        "SRD-A001",
    )
