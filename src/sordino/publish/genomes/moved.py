"""What one person can change in sums of genotypes.

A genotype counts as −1, 0 or 1: copies of the counted allele beyond one. So one person moves a site's sum by 1 at most,
where counts of copies move by 2; and exchanging the two alleles only changes its sign.

**People in groups** (clusters, or cases and controls), each person in one group or none; for each group the sums of m
sites, and w times the number of its people (left out with w = 0).
**Guarantee** of `in_groups`: one person who comes or goes moves m sums by 1 and one number by w. **Replaced** by
another in the same group: m sums by 2. In another group: m sums by 1 in each of the two, and two numbers by w. Where
there is one group that everybody is in, and no number, only the first can happen. ∎

**Guarantee** of `of_scores`: a score |Σ z·genotype| with |z| ≤ M moves by M at most, and by 2M if the person is
replaced, since |a| − |b| is at most |a − b|. ∎
"""

from __future__ import annotations

from fractions import Fraction

from sordino.accounting.bound import Bound
from sordino.accounting.neighbours import Neighbours
from sordino.data.genotypes import PERSON


def in_groups(sites: int, weight: int, *, replaces: bool) -> Bound:
    """Return the bound of sums of so many sites in each group, and of numbers of people counted `weight` times."""
    if not replaces:
        places = sites + (weight > 0)
        most = Fraction(max(weight, 1))
        return Bound(places, Fraction(sites + weight), Fraction(sites + weight**2), most, unit=PERSON)
    replaced = Neighbours.REPLACE_ONE
    if not weight:
        return Bound(sites, Fraction(2 * sites), Fraction(4 * sites), Fraction(2), replaced, PERSON)
    square = max(4 * sites, 2 * sites + 2 * weight**2)
    places, total = 2 * (sites + 1), 2 * (sites + weight)
    return Bound(places, Fraction(total), Fraction(square), Fraction(max(weight, 2)), replaced, PERSON)


def of_scores(sites: int, largest: int, *, replaces: bool) -> Bound:
    """Return the bound of scores of so many sites, no person weighing more than `largest`."""
    each = 2 * largest if replaces else largest
    neighbours = Neighbours.REPLACE_ONE if replaces else Neighbours.ADD_REMOVE
    return Bound(sites, Fraction(each * sites), Fraction(each**2 * sites), Fraction(each), neighbours, PERSON)
