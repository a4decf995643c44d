"""The sites at which cases and controls differ most, best first, with their counts and χ² beside.

The score of a site is |Σ over cases of (1 − π)·g − Σ over controls of π·g|, g from −1 to 1 and π the public share of
cases: the difference of allele counts, if there are as many cases as controls. It takes one person far less to move a
χ² than to move this; see ``moved.py``. A fifth (`SHOWN`) of ε is for what is shown beside the chosen sites: noisy sums
of cases and of controls, and how many there are of both.

**Guarantee**: pure ε: ``TopK`` over all sites (k exponential mechanisms), then one vector with Laplace noise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Composed
from sordino.arguments import Number, probability, whole
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError
from sordino.keywords import check_names
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.top_k import TopK
from sordino.publish.price import Expected
from sordino.publish.publication import Publication, Running
from sordino.publish.spending import Form, Spend

from .frequency import check_genotypes
from .moved import in_groups, of_scores
from .release import TopSites, sites_table, top_again

SHOWN = Fraction(1, 5)
_MOST_PARTS = 1000
_WEIGHT = 3
_PARTS = re.compile(r"[0-9]{1,4}/[1-9][0-9]{0,3}")


def top_snps(account: DataAccount[Any], *, count: int = 10, share: Number = "0.5") -> Publication[TopSites]:
    """Return a publication of the `count` sites at which cases and controls differ most.

    `share` is the public share of cases, about; with another one than there is, sites that are rare come out by that
    alone.

    **Guarantee**: pure ε for one person with all genotypes and the phenotype.
    """
    return Publication(account, _recipe(account.protected, count, share))


@dataclass(frozen=True)
class AssociationRecipe:
    """The best of so many sites."""

    count: int
    sites: int
    share: Fraction
    people: int | None
    replaces: bool

    name: ClassVar[str] = "top-snps"
    forms: ClassVar[tuple[Form, ...]] = ("pure",)
    adapts: ClassVar[bool] = False

    def design(self, spend: Spend) -> AssociationDesign:
        """Return the choice and what is shown, with their noise."""
        # Each choice has a whole number of the smallest shares, so that no account rounds the sum beyond what was said.
        each, shown = spend.part((1 - SHOWN) / self.count).amount, spend.part(SHOWN).amount
        scored = of_scores(self.sites, self.largest, replaces=self.replaces)
        beside = in_groups(self.count, _WEIGHT, replaces=self.replaces)
        choice = TopK.for_epsilon(each * self.count, scored, self.sites, count=self.count)
        return AssociationDesign(self, choice, scored, Laplace.for_epsilon(shown, beside), beside)

    def plain(self) -> dict[str, Any]:
        """Return the parameters."""
        return {"count": self.count, "share": str(self.share)}

    @property
    def weights(self) -> tuple[int, int]:
        """What a case and a control weigh, in whole numbers."""
        return self.share.denominator - self.share.numerator, -self.share.numerator

    @property
    def largest(self) -> int:
        """The most that anybody weighs."""
        return max(abs(each) for each in self.weights)


@dataclass(frozen=True)
class AssociationDesign:
    """The same with its mechanisms."""

    recipe: AssociationRecipe
    choice: TopK
    bound: Bound
    beside: Laplace
    beside_bound: Bound

    def event(self) -> Event:
        """Return the choice, and the noise in what is shown beside."""
        return Composed((self.choice.event(self.bound), self.beside.event(self.beside_bound)))

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return how far below the best a chosen score is, and how far off sums are."""
        sure = f"at {float(confidence):.0%} confidence"
        short = self.choice.error(float(confidence)) / self.recipe.largest
        return (
            Expected("scores", short, f"below the best that was left, in people's genotypes, {sure}", at_most=True),
            Expected("sums", self.beside.error(float(confidence)), f"half the width of an interval {sure}"),
        )

    def notes(self) -> tuple[str, ...]:
        """Return what is not protected; whether the noise exceeds the range, and how many sites would fit."""
        found = ["which sites there are is public and not protected"]
        recipe = self.recipe
        if recipe.people is not None:
            short, each = self.choice.error(0.95) / recipe.largest, self.choice.error(0.95) / recipe.count
            # A score is a share of people at most; the shortfall is about in proportion to the number chosen.
            if short > recipe.people / 2:
                fits = math.floor(recipe.people / 2 / (each / recipe.largest))
                found.append(
                    "the noise exceeds the range of scores, which no more than half of the people can make; "
                    f"with count={fits} or less it would not"
                    if fits
                    else "the noise exceeds the range of scores"
                )
        return tuple(found)

    def run(self, running: Running) -> TopSites:
        """Score all sites, choose, and measure those that were chosen."""
        protected, recipe = running.data.protected, self.recipe
        status = protected.cases()
        groups = np.stack([status == 1, status == -1], axis=1).astype(np.int8)
        sums = protected.summed(groups)
        scores = np.abs(sums @ np.array(recipe.weights))
        best = running.release(self.choice, self.bound, scores)
        running.stage("measuring")
        people = groups.sum(axis=0, dtype=np.int64)[None, :] * _WEIGHT
        noisy = running.release(self.beside, self.beside_bound, np.concatenate([sums[best], people]))
        running.stage("measuring")
        sites = sites_table(protected.sites[place] for place in best)
        return TopSites(running.plan, None, sites, noisy[:-1], noisy[-1] / _WEIGHT)


def read(protected: Any, plain: Mapping[str, Any]) -> AssociationRecipe:
    """Return the recipe from plain parameters: count and share."""
    check_names(plain, ("count", "share"), "the sites that differ most have no word")
    share = plain.get("share", "0.5")
    if isinstance(share, str) and _PARTS.fullmatch(share):
        share = Fraction(share)
    return _recipe(protected, plain.get("count", 10), share)


def load(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> TopSites:
    """Return sites that were saved."""
    return top_again(manifest, files)


def _recipe(protected: Any, count: Any, share: Any) -> AssociationRecipe:
    held = check_genotypes(protected)
    part = probability("share", share)
    if part.denominator > _MOST_PARTS:
        raise ArgumentError(f"share must be a fraction of at most {_MOST_PARTS} parts, such as 0.25", "SRD-P603")
    chosen = whole("count", count, least=1, most=len(held.sites))
    return AssociationRecipe(chosen, len(held.sites), part, held.people, held.replaces)
