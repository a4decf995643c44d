"""Two servers, one request and one answer: the ping-pong topology of draft-irtf-cfrg-vdaf-18, Section 5.7.1.

    leader   start  ─────  verifier share  ─────▶  helper   answers and has finished
    leader   has finished  ◀────  verifier message  ─────

Messages are opaque bytes, one for each report of a batch and empty for a report that is refused; how they travel is
nobody's business here. States are values: a server keeps `Waiting` until the answer comes, or starts again from the
same reports and comes to the same bytes.

**Guarantee**: no message raises. One that is missing, malformed, of another type or of another length refuses its own
report and no other. A server that finished counts a report only if the other one's message said that it may.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sordino.errors import ArgumentError

from .prio3 import HELPER, LEADER, Prio3
from .refusal import Reasons, Refusal, none_refused, refused
from .rows import as_messages, as_rows
from .sharding import ReportShare
from .verify import Finished, Started, verifier_messages, verify_next, verify_start

_INITIALIZE = 0
_FINISH = 2
_HEAD = 5


@dataclass(frozen=True)
class Waiting:
    """The leader has sent its verifier shares and waits for the helper (the draft's `Continued`)."""

    outbound: list[bytes]
    started: Started = field(repr=False)

    def finish(self, inbound: Sequence[bytes]) -> Finished:
        """Return the leader's output shares, given the helper's answers in the order of the reports."""
        prio3 = self.started.prio3
        messages, reasons = _unframed(_FINISH, inbound, prio3.verifier_message_size, len(self.outbound))
        return verify_next(self.started, messages, reasons)


@dataclass(frozen=True)
class Answered:
    """The helper has finished and has an answer to send (the draft's `FinishedWithOutbound`)."""

    outbound: list[bytes]
    finished: Finished


def leader_start(prio3: Prio3, key: bytes, reports: Sequence[ReportShare]) -> Waiting:
    """Begin: return what is sent to the helper for each report."""
    _check_two(prio3)
    started = verify_start(prio3, LEADER, key, reports)
    return Waiting(_framed(_INITIALIZE, started.verifier_shares, started.reasons), started)


def helper_answer(prio3: Prio3, key: bytes, reports: Sequence[ReportShare], inbound: Sequence[bytes]) -> Answered:
    """Answer the leader's messages about these reports, in their order; return output shares and what is sent back."""
    _check_two(prio3)
    shares, arrived = _unframed(_INITIALIZE, inbound, prio3.verifier_share_size, len(reports))
    started = verify_start(prio3, HELPER, key, reports)
    combined = verifier_messages(prio3, [shares, started.verifier_shares])
    finished = verify_next(started, combined.messages, np.where(arrived, arrived, combined.reasons))
    return Answered(_framed(_FINISH, combined.messages, finished.reasons), finished)


def _check_two(prio3: Prio3) -> None:
    if prio3.servers != 2:
        raise ArgumentError(
            f"this exchange is for two servers, not {prio3.servers}; with more, send all verifier shares to one of "
            "them and its verifier messages to all (verify_start, verifier_messages, verify_next)",
            "SRD-C308",
        )


def _framed(kind: int, items: Sequence[bytes | None], reasons: Reasons) -> list[bytes]:
    return [
        b"" if reason or item is None else bytes([kind]) + len(item).to_bytes(4, "big") + item
        for item, reason in zip(items, reasons, strict=True)
    ]


def _unframed(kind: int, inbound: Sequence[Any], size: int, count: int) -> tuple[list[bytes | None], Reasons]:
    """Return what the messages hold: None, and a reason, for those that are not of this type and length."""
    if len(inbound) != count:
        raise ArgumentError(
            "there must be a message for every report of the batch, in order; empty ones too", "SRD-A003"
        )
    rows, fits = as_rows(inbound, _HEAD + size)
    head = bytes([kind]) + size.to_bytes(4, "big")
    fits = fits & (rows[:, :_HEAD] == list(head)).all(axis=1)
    items = [item if fit else None for item, fit in zip(as_messages(rows[:, _HEAD:]), fits, strict=True)]
    return items, refused(none_refused(count), fits, Refusal.NO_MESSAGE)
