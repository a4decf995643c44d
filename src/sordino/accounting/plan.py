"""The Plan protocol: what every room hands to a budget. A plan is frozen and has seen no data."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from .bound import Bound
from .event import Event


@runtime_checkable
class Plan(Protocol):
    """Anything that can be priced before data is touched.

    A plan may also have `days`, all days that it reads, spelled as 2026-06-03: it is charged on those where days have
    budgets of their own.
    """

    @property
    def bound(self) -> Bound:
        """What one unit can change, of all that the plan releases."""
        ...

    def event(self) -> Event:
        """Everything that the plan will run, as one (usually composed) event: a pure function of the plan."""
        ...
