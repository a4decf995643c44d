"""Which data sets count as neighbours: the one enum of this kind in the whole house."""

from __future__ import annotations

from enum import Enum


class Neighbours(Enum):
    """How two data sets may differ by one unit, and still must look alike.

    ``ADD_REMOVE``  one unit is present in one of them only; the number of units is private.
    ``REPLACE_ONE`` one unit has other data (substitution); the number of units is public.
    ``ZERO_OUT``    one unit's contribution is replaced by nothing, its place kept; the number of units is public.
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"
    ZERO_OUT = "zero-out"

    def takes(self, ran: Neighbours) -> bool:
        """Return whether an account under this relation can be charged for what runs under `ran`.

        Whoever is replaced, or emptied, leaves and another comes, so what is priced for coming and going has a price
        there as well (``relation.charged_as``). Nothing follows the other way round.
        """
        return ran in (self, Neighbours.ADD_REMOVE)
