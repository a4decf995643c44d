"""Whether a charge speaks of something: an event that this version knows, under norms that a change can have.

Entries hold the texts of an event and of norms. Whoever charged has read them; whoever verifies reads them again.

**Guarantee**: where `implausible` has nothing to say, the event is one of this version in its canonical spelling, it
has a meaning under the relation that it ran under, and all four norms are above zero.
"""

from __future__ import annotations

from functools import lru_cache

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.tally import check_priced_for
from sordino.errors import SordinoError

from .charging import Reserved


def implausible(reserved: Reserved) -> str | None:
    """Return why a charge cannot be what was priced, or None."""
    bound = reserved.bound
    if not all((bound.l0, bound.l1, bound.l2_squared, bound.linf)):
        return "a norm of its bound is zero, and nothing that is charged leaves an answer as it is"
    return _meaningless(reserved.event, bound.neighbours)


@lru_cache(maxsize=4096)
def _meaningless(event: str, neighbours: Neighbours) -> str | None:
    try:
        check_priced_for(Event.from_json(event), Bound.scalar(neighbours=neighbours))
    except SordinoError as error:
        return f"it charges for an event that means nothing to this version: {error.message}"
    return None
