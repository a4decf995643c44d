"""One report at a time, by the names of the draft: what is refused raises. draft-irtf-cfrg-vdaf-18, Section 7.2.2.

Each is the case of a batch of one in `verify`; whoever has many reports uses that, which is many times faster.
"""

from __future__ import annotations

from collections.abc import Sequence

from .field import Elements
from .prio3 import Prio3
from .refusal import raise_for
from .sharding import ReportShare
from .verify import Started, verifier_messages, verify_start
from .verify import verify_next as next_of_batch


def verify_init(prio3: Prio3, server: int, key: bytes, report: ReportShare) -> tuple[Started, bytes]:
    """Return what the server keeps, and its verifier share; raise if the report is malformed."""
    started = verify_start(prio3, server, key, [report])
    raise_for(started.reasons[0])
    return started, started.verifier_shares[0] or b""


def verifier_shares_to_message(prio3: Prio3, shares: Sequence[bytes]) -> bytes:
    """Return the verifier message from the verifier shares of all servers; raise if the proof does not hold."""
    combined = verifier_messages(prio3, [[share] for share in shares])
    raise_for(combined.reasons[0])
    return combined.messages[0] or b""


def verify_next(started: Started, message: bytes) -> Elements:
    """Return the server's output share; raise if the servers derived different joint randomness."""
    finished = next_of_batch(started, [message])
    raise_for(finished.reasons[0])
    output: Elements = finished.outputs[0]
    return output
