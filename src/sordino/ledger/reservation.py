"""What a ledger gives to whoever asked to spend: a reservation, or what became of the same request before."""

from __future__ import annotations

from dataclasses import dataclass

from .entries import Reserved


@dataclass(frozen=True, slots=True)
class Reservation:
    """A charge that is committed and witnessed: permission to run what was asked for, once."""

    entry: Reserved
    body: bytes
    """Its canonical spelling, as it stands in the ledger."""

    @property
    def id(self) -> str:
        """How later entries call it."""
        return self.entry.id

    @property
    def position(self) -> int:
        """Where it stands in the ledger."""
        return self.entry.sequence


@dataclass(frozen=True, slots=True)
class Replay:
    """What became of an earlier request under the same idempotency key; nothing was charged now.

    `release` is what was released then. It is None while the request is still running (or its process died: the charge
    stands, and the owner may `fail` it), and where it `failed`.
    """

    id: str
    request: str
    """The digest of what was asked."""
    release: bytes | None
    failed: bool
    stays_open: bool = False
    """Whether it is work with parts that has not ended: to be resumed, and not taken for an interrupted run."""

    @property
    def running(self) -> bool:
        """Whether nothing has come of it yet."""
        return self.release is None and not self.failed
