"""What one unit can change: the unit, the neighbouring relation, and the size of the change in each norm.

A `Bound` is the only way by which sensitivity enters the house. It says who is protected, against which change, and
how far a vector-valued answer can move when that change happens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from sordino.arguments import Number, rational, whole
from sordino.errors import ArgumentError

from .neighbours import Neighbours


@dataclass(frozen=True)
class Unit:
    """Who is protected: a single row, or whoever a column identifies. `name` is what receipts say."""

    name: str


ROW = Unit("row")


@dataclass(frozen=True)
class Bound:
    """How far an answer can move when one unit changes, under one neighbouring relation.

    **Guarantee**: for all neighbours D, D' under `neighbours`, the answer's difference v has at most `l0` coordinates
    that are not zero, ‖v‖₁ ≤ `l1`, ‖v‖₂² ≤ `l2_squared` and ‖v‖∞ ≤ `linf`.
    **Assumes**: whoever builds it has proven that. Build it with `Bound.scalar`, `Bound.vector` or a clipping
    mechanism rather than field by field.

    The 2-norm is kept squared so that it stays rational: three counts of one row each give exactly 3.
    """

    l0: int
    l1: Fraction
    l2_squared: Fraction
    linf: Fraction
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    unit: Unit = ROW

    @classmethod
    def scalar(
        cls, sensitivity: Number = 1, *, neighbours: Neighbours = Neighbours.ADD_REMOVE, unit: Unit = ROW
    ) -> Bound:
        """Return the bound of one number that moves by at most `sensitivity`."""
        size = rational("sensitivity", sensitivity, above=0)
        return cls(1, size, size * size, size, neighbours, unit)

    @classmethod
    def vector(
        cls,
        *,
        linf: Number | None = None,
        l0: int | None = None,
        l1: Number | None = None,
        l2: Number | None = None,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
        unit: Unit = ROW,
    ) -> Bound:
        """Return the tightest bound that follows from the norms given: `l0` and one of `linf`, `l1`, `l2` at least.

        >>> Bound.vector(l0=3, linf=1).l2_squared
        Fraction(3, 1)
        """
        if l0 is None or (linf is None and l1 is None and l2 is None):
            raise ArgumentError("a vector's bound needs l0 (how many coordinates) and one of linf, l1, l2", "SRD-A003")
        count = whole("l0", l0, least=1)
        given_inf = None if linf is None else rational("linf", linf, above=0)
        given_1 = None if l1 is None else rational("l1", l1, above=0)
        given_2 = None if l2 is None else rational("l2", l2, above=0)
        largest = min(n for n in (given_inf, given_1, given_2) if n is not None)
        squared = min(
            [count * largest**2]
            + ([given_2**2] if given_2 is not None else [])
            + ([given_1 * largest] if given_1 is not None else [])
        )
        total = min([count * largest] + ([given_1] if given_1 is not None else []))
        return cls(count, total, squared, largest, neighbours, unit)

    def group(self, size: int) -> Bound:
        """Return the bound for `size` units that change together (a family): every norm grows by that factor."""
        k = whole("size", size, least=1)
        return replace(self, l0=self.l0 * k, l1=self.l1 * k, l2_squared=self.l2_squared * k * k, linf=self.linf * k)

    def replacing(self) -> Bound:
        """Return the same answer's bound under replace-one: one unit leaves and another comes, so norms double.

        **Guarantee**: holds for any answer that has this bound under add/remove (triangle inequality).
        """
        if self.neighbours is not Neighbours.ADD_REMOVE:
            raise ArgumentError("replacing() starts from an add/remove bound; build this one directly", "SRD-A003")
        return replace(self.group(2), neighbours=Neighbours.REPLACE_ONE)
