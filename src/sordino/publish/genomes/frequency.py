"""Allele frequencies of clusters: for each site the sum of genotypes, and how many people there are, both noisy.

A frequency is ½ + sum/(2 · people). How many there are in a cluster is public only where everybody is in one cluster
and people are replaced; else it is measured, counted `weight` times so that its noise is small beside that of sums.

**Guarantee**: one vector with Laplace noise for pure ε, or discrete Gaussian noise for ρ, under ``moved.in_groups``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.arguments import Number, rational, whole
from sordino.data.account import DataAccount
from sordino.data.genotypes import Genotypes
from sordino.data.genotypes import genotypes as genotypes
from sordino.errors import ArgumentError
from sordino.keywords import check_names
from sordino.mechanisms.gaussian import DiscreteGaussian
from sordino.mechanisms.laplace import Laplace
from sordino.publish.price import Expected
from sordino.publish.publication import Publication, Running
from sordino.publish.spending import Form, Spend

from .moved import in_groups
from .release import Frequencies, frequencies_again, sites_table

_LEAST_WEIGHT = 3
MEASURE = "root mean square error"


def frequencies(
    account: DataAccount[Any], *, sites: Sequence[str] | int | None = None, within: Number = 0.05
) -> Publication[Frequencies]:
    """Return a publication of the allele frequencies of each cluster.

    `sites` names them, or is a number: so many, from the first on; left out, all. The noise grows with the number of
    sites. `within` is the error that you could use: the price says how many sites would fit it.

    **Guarantee**: pure ε, or ρ, for one person with all genotypes, the cluster and the phenotype.
    """
    return Publication(account, _recipe(account.protected, sites, within))


@dataclass(frozen=True)
class FrequencyRecipe:
    """Frequencies at some sites."""

    chosen: tuple[int, ...]
    """Which sites, by their place."""
    named: tuple[str, ...] | int | None
    of: int
    """How many sites there are."""
    clusters: tuple[str, ...]
    people: int | None
    """How many there are, or about how many, if everybody counts in one cluster."""
    replaces: bool
    within: float

    name: ClassVar[str] = "allele-frequencies"
    forms: ClassVar[tuple[Form, ...]] = ("pure", "concentrated")
    adapts: ClassVar[bool] = False

    def design(self, spend: Spend) -> FrequencyDesign:
        """Return the sums with their noise."""
        return FrequencyDesign.of(self, spend)

    def plain(self) -> dict[str, Any]:
        """Return the parameters."""
        named = list(self.named) if isinstance(self.named, tuple) else self.named
        return {"sites": named, "within": self.within}

    def weight(self, sites: int) -> int:
        """Return how often people are counted: 0 where it is public how many there are."""
        if self.replaces and self.people is not None:
            return 0
        return max(_LEAST_WEIGHT, round(math.cbrt(sites)))

    def mechanism(self, sites: int, spend: Spend) -> tuple[Bound, Laplace | DiscreteGaussian]:
        """Return the bound and the noise for so many sites."""
        bound = in_groups(sites, self.weight(sites), replaces=self.replaces)
        make = Laplace.for_epsilon if spend.is_pure else DiscreteGaussian.for_rho
        return bound, make(spend.part(Fraction(1)).amount, bound)

    def off_by(self, mechanism: Laplace | DiscreteGaussian, weight: int) -> float:
        """Return the root mean square error of a frequency; infinite if it is not known how many people there are.

        Where that is measured, noise in it is off by a factor 1/weight of the noise in sums, at frequencies 0 and 1.
        """
        if self.people is None:
            return math.inf
        deviation = math.sqrt(mechanism.variance_of_error) / (2 * self.people)
        return deviation * (math.sqrt(1 + 1 / weight**2) if weight else 1)

    def offered(self, within: float, spend: Spend) -> int:
        """Return the most sites of which each would be off by no more than `within`."""
        low, high = 0, self.of + 1
        while high - low > 1:
            middle = (low + high) // 2
            off = self.off_by(self.mechanism(middle, spend)[1], self.weight(middle))
            low, high = (middle, high) if off <= within else (low, middle)
        return low


@dataclass(frozen=True)
class FrequencyDesign:
    """The same with its noise."""

    recipe: FrequencyRecipe
    bound: Bound
    mechanism: Laplace | DiscreteGaussian
    offer: int
    """How many sites would fit the error that was wished for."""

    @classmethod
    def of(cls, recipe: FrequencyRecipe, spend: Spend) -> FrequencyDesign:
        """Return the design for so much."""
        return cls(recipe, *recipe.mechanism(len(recipe.chosen), spend), recipe.offered(recipe.within, spend))

    def event(self) -> Event:
        """Return the noise in the whole vector."""
        return self.mechanism.event(self.bound)

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return how far off a sum is, and a frequency where it is known how many people there are about."""
        half = f"half the width of a {float(confidence):.0%} interval"
        found = Expected("sums", self.mechanism.error(float(confidence)), half)
        measured = self._weight > 0
        return (Expected("frequencies", self._error, MEASURE, at_most=measured), found)

    def notes(self) -> tuple[str, ...]:
        """Return what is not protected, and how many sites would fit."""
        found = ["which sites there are, and the names of clusters, are public and not protected"]
        if not math.isfinite(self._error):
            found.append("errors of frequencies hang on how many people a cluster has")
        elif self._error > self.recipe.within:
            beyond = "the noise exceeds the range of a frequency, 0 to 1; " if self._error > 0.5 else ""
            found.append(f"{beyond}with {self.offer:,} sites each would be within ± {self.recipe.within:g}")
        return tuple(found)

    def run(self, running: Running) -> Frequencies:
        """Add genotypes up, add noise."""
        protected, recipe = running.data.protected, self.recipe
        member = protected.membership()
        sums = protected.summed(member)[list(recipe.chosen)]
        people = member.sum(axis=0, dtype=np.int64)[None, :]
        parts = [sums, people * self._weight] if self._weight else [sums]
        noisy = running.release(self.mechanism, self.bound, np.concatenate(parts))
        running.stage("measuring")
        sites = sites_table(protected.sites[place] for place in recipe.chosen)
        counted = noisy[len(sums) :].ravel() if self._weight else np.array([recipe.people])
        law = (max(self._weight, 1), self.mechanism.error(0.95))
        return Frequencies(running.plan, None, sites, recipe.clusters, noisy[: len(sums)], counted, *law)

    @property
    def _weight(self) -> int:
        return self.recipe.weight(len(self.recipe.chosen))

    @property
    def _error(self) -> float:
        return self.recipe.off_by(self.mechanism, self._weight)


def read(protected: Any, plain: Mapping[str, Any]) -> FrequencyRecipe:
    """Return the recipe from plain parameters: sites and within."""
    check_names(plain, ("sites", "within"), "allele frequencies have no word")
    return _recipe(protected, plain.get("sites"), plain.get("within") or 0.05)


def load(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Frequencies:
    """Return frequencies that were saved."""
    return frequencies_again(manifest, files)


def check_genotypes(protected: Any) -> Genotypes:
    """Refuse anything but genotypes."""
    if not isinstance(protected, Genotypes):
        raise ArgumentError("this is published of genotypes: open the account for so.publish.genotypes(…)", "SRD-P601")
    return protected


def _recipe(protected: Any, sites: Any, within: Any) -> FrequencyRecipe:
    held = check_genotypes(protected)
    wished = float(rational("within", within, above=0))
    named: tuple[str, ...] | int | None
    if sites is None:
        named, chosen = None, tuple(range(len(held.sites)))
    elif isinstance(sites, int):
        named = whole("sites", sites, least=1, most=len(held.sites))
        chosen = tuple(range(named))
    else:
        named = tuple(str(each) for each in sites)
        places = {site.name: place for place, site in enumerate(held.sites)}
        chosen = tuple(places.get(each, -1) for each in named)
        if not chosen or -1 in chosen or len(set(chosen)) != len(chosen):
            raise ArgumentError("sites must be names of sites of these genotypes, each once", "SRD-P603")
    people = held.people if held.everybody else None
    return FrequencyRecipe(chosen, named, len(held.sites), held.clusters, people, held.replaces, wished)
