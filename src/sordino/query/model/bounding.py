"""How much one person may weigh: the ways of bounding contributions, and what each lets one person change.

A row contributes a vector of whole numbers to its group. Let c_g be the number of rows that a person has in group g
after bounding, each with its weight (a whole number of `unit`ths). Each method makes its promise for every person by
that person's rows alone:

``row``     no bounding: the unit is the row, which can become `rows` rows of the relation at most;
``sample``  at most `rows` rows of each person are kept, chosen by their places in the order of a keyed hash of their
            content and by a keyed hash of the person;
``weigh``   each of a person's n rows weighs min(1, rows/n);
``groups``  at most `groups` groups are kept, chosen by a keyed hash of owner and key; in each of them the c rows
            weigh min(1, rows_per_group/c);
``norm``    each row weighs min(1, rows/√(Σ_g c_g²)).

**Guarantee**: the weights of a person's rows, added up by group and divided by `unit`, form a vector over groups with
at most `l0` entries, none above `linf`, 1-norm at most `l1` and squared 2-norm at most `l2_squared`. Weights are
rounded down, so rounding never adds. None means: bounded by the number of groups only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sordino.arguments import one_of, whole
from sordino.errors import ArgumentError

Method = Literal["row", "sample", "weigh", "groups", "norm"]

WEIGHT_UNIT = 2**16
"""Weights are whole numbers of 1/65,536."""


@dataclass(frozen=True)
class Bounding:
    """One way of bounding, with its limits.

    >>> Bounding("groups", groups=3, rows_per_group=2).l2_squared
    12
    """

    method: Method
    rows: int | None = None
    groups: int | None = None
    rows_per_group: int | None = None

    def __post_init__(self) -> None:
        one_of("method", self.method, ("row", "sample", "weigh", "groups", "norm"))
        needed = ("groups", "rows_per_group") if self.method == "groups" else ("rows",)
        for name in ("rows", "groups", "rows_per_group"):
            given = getattr(self, name)
            if (given is not None) != (name in needed):
                raise ArgumentError(
                    f"bounding by {self.method} needs {' and '.join(needed)}, and only that", "SRD-A003"
                )
            if given is not None:
                object.__setattr__(self, name, whole(name, given, least=1, most=2**31))

    @property
    def limits(self) -> dict[str, int]:
        """The limits that it has, by name."""
        given = {name: getattr(self, name) for name in ("rows", "groups", "rows_per_group")}
        return {name: limit for name, limit in given.items() if limit is not None}

    @property
    def unit(self) -> int:
        """What a full row weighs."""
        return 1 if self.method in ("row", "sample") else WEIGHT_UNIT

    @property
    def l0(self) -> int | None:
        """The number of groups in which one person can have any weight."""
        return {"row": self.rows, "sample": self.rows, "groups": self.groups}.get(self.method)

    @property
    def linf(self) -> int:
        """The largest weight in one group, in rows."""
        return self._limit("rows_per_group" if self.method == "groups" else "rows")

    @property
    def l1(self) -> int | None:
        """The weight in all groups together, in rows; None for `norm`, which bounds another norm."""
        if self.method == "norm":
            return None
        return self._limit("groups") * self.linf if self.method == "groups" else self.linf

    @property
    def l2_squared(self) -> int:
        """The squared 2-norm over groups, in rows."""
        return self._limit("groups") * self.linf**2 if self.method == "groups" else self.linf**2

    def _limit(self, name: str) -> int:
        limit: int = getattr(self, name)  # that it is there was checked when it was built
        return limit


def bounding(
    method: Method, *, rows: int | None = None, groups: int | None = None, rows_per_group: int | None = None
) -> Bounding:
    """Return a way of bounding contributions, to be asked for instead of the planner's choice."""
    return Bounding(method, rows, groups, rows_per_group)
