"""Runs that a process left behind when it died: charged, and nothing will come of them.

Whoever asks again under the same idempotency key must hear that at some time, and not for ever that it still runs. A
run that takes longer than the threshold has a row (``jobs.py``), which stays unfinished until its process has ended it
or `Jobs.recover` has. So an old charge that is open and has no such row is nobody's any more.
"""

from __future__ import annotations

from sordino.ledger.charging import position_of
from sordino.ledger.reservation import Replay

from .premises import Premises

INTERRUPTED = "SRD-R009"
LOST = "this run was interrupted before it was charged; ask again"
LOST_CHARGED = "this run was interrupted after it was charged; what was charged stays charged"
LEFT_OPEN = "this work was interrupted and is still open: it was charged, and goes on when it is resumed by its id"
GRACE_SECONDS = 60
"""How much longer than the threshold a row may take to be written, by a machine that is very busy."""


def left_behind(house: Premises, earlier: Replay, key: str) -> bool:
    """Return whether an open charge, under the digest of a key, is one of which nothing will come.

    Work that stays open is not: it is resumed by its id. This writes nothing: should the run end all the same, it is
    settled, and the same key has its answer.
    """
    if not earlier.running or earlier.stays_open or house.registry.unfinished(key):
        return False
    position = position_of(earlier.id)
    (charge,) = house.ledger.entries(position, position + 1)
    patience = house.settings.threshold_seconds + house.settings.witness_seconds + GRACE_SECONDS
    return house.ledger.now() - charge.time > 1000 * patience
