"""What synthetic rows are to be right about: a list of marginals, as pairs of all columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sordino import keywords
from sordino.arguments import shown, whole
from sordino.errors import ArgumentError

from .junction import Clique

_MOST = 50_000


@dataclass(frozen=True)
class Workload:
    """Marginals: all of so many columns each, or those that are listed. Built by `pairs`, `triples`, `combinations`."""

    ways: int | None = None
    listed: tuple[tuple[str, ...], ...] = ()

    def cliques(self, columns: Sequence[str]) -> tuple[Clique, ...]:
        """Return the marginals as ascending places of columns."""
        place = {name: number for number, name in enumerate(columns)}
        for name in itertools.chain.from_iterable(self.listed):
            if name not in place:
                raise ArgumentError(
                    f"the workload names a column {shown(name)} that is not among those that are published: "
                    f"{', '.join(columns)}",
                    "SRD-P101",
                )
        ways = min(self.ways or 0, len(columns))
        found = [tuple(sorted(place[name] for name in each)) for each in self.listed]
        found += list(itertools.combinations(range(len(columns)), ways)) if ways else []
        if len(found) > _MOST:
            raise ArgumentError(f"the workload has {len(found):,} marginals, and {_MOST:,} is the most", "SRD-A002")
        return tuple(dict.fromkeys(found))

    def plain(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {"ways": self.ways} if self.ways else {"marginals": [list(each) for each in self.listed]}

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Workload:
        """Return the workload that `plain` wrote."""
        keywords.check_names(plain, ("ways", "marginals"), "a workload has no")
        return ways_of(plain["ways"]) if "ways" in plain else combinations(plain.get("marginals", ()))


def ways_of(columns: int) -> Workload:
    """Return all marginals of so many columns each, from 1 to 4."""
    return Workload(whole("ways", columns, least=1, most=4))


def pairs() -> Workload:
    """Return the marginals of all pairs of columns."""
    return Workload(2)


def triples() -> Workload:
    """Return the marginals of all triples of columns."""
    return Workload(3)


def combinations(listed: Iterable[Iterable[str]]) -> Workload:
    """Return the marginals that are listed, each by the names of its columns."""
    if isinstance(listed, str):
        raise ArgumentError('combinations takes lists of columns, such as [["age", "income"], ["sex"]]', "SRD-A001")
    named = tuple((each,) if isinstance(each, str) else tuple(each) for each in listed)
    if not named or any(
        not each or len(set(each)) < len(each) or not all(isinstance(name, str) for name in each) for each in named
    ):
        raise ArgumentError("each marginal lists one column at least, and none of them twice", "SRD-A003")
    return Workload(None, named)


def candidates(workload: Iterable[Clique]) -> dict[Clique, int]:
    """Return all marginals within those of the workload, each with its weight: how much of the workload it meets.

    The weight of c is Σ |c ∩ w| over the workload (McKenna, Mullins, Sheldon, Miklau 2022, Algorithm 4).
    """
    wanted = list(workload)
    within = {
        part for each in wanted for size in range(1, len(each) + 1) for part in itertools.combinations(each, size)
    }
    sets = [set(each) for each in wanted]
    return {each: sum(len(other & set(each)) for other in sets) for each in sorted(within, key=lambda c: (len(c), c))}
