"""What one person can change: every genotype, group and replacement on a few sites."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sordino.publish.genomes.chi_squared import chi_squared
from sordino.publish.genomes.moved import in_groups, of_scores

SITES = 3


def people(groups: int) -> list[tuple[tuple[int, ...], int | None]]:
    return [(g, group) for g in product((-1, 0, 1), repeat=SITES) for group in (*range(groups), None)]


def told(person: tuple[tuple[int, ...], int | None], groups: int, weight: int) -> np.ndarray:
    found = np.zeros((SITES + (weight > 0), groups), int)
    genotype, group = person
    if group is not None:
        found[:SITES, group] = genotype
        if weight:
            found[SITES, group] = weight
    return found


def norms(moved: np.ndarray) -> tuple[int, int, int, int]:
    size = np.abs(moved)
    return int((size > 0).sum()), int(size.sum()), int((size**2).sum()), int(size.max())


def most(moves: list[np.ndarray]) -> tuple[int, ...]:
    return tuple(max(each) for each in zip(*(norms(moved) for moved in moves), strict=True))


@pytest.mark.parametrize("weight", [1, 2, 3, 5])
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_sums_in_groups_are_bounded_and_tight(groups: int, weight: int) -> None:
    everybody = [told(person, groups, weight) for person in people(groups)]
    bound = in_groups(SITES, weight, replaces=False)
    assert most(everybody) == (bound.l0, bound.l1, bound.l2_squared, bound.linf)
    bound = in_groups(SITES, weight, replaces=True)
    seen = most([one - other for one in everybody for other in everybody])
    assert all(a <= b for a, b in zip(seen, (bound.l0, bound.l1, bound.l2_squared, bound.linf), strict=True))
    if groups > 1:
        assert seen == (bound.l0, bound.l1, bound.l2_squared, bound.linf)


def test_one_group_of_everybody() -> None:
    everybody = [told((g, 0), 1, 0) for g in product((-1, 0, 1), repeat=SITES)]
    bound = in_groups(SITES, 0, replaces=True)
    assert most([one - other for one in everybody for other in everybody]) == (3, 6, 12, 2)
    assert (bound.l0, bound.l1, bound.l2_squared, bound.linf) == (3, 6, 12, 2)


@pytest.mark.parametrize("weights", [(1, -1), (3, -1), (1, -4)])
def test_scores(weights: tuple[int, int]) -> None:
    """A score moves by M where a person comes or goes, by 2M where one is replaced, whatever the others are."""
    terms = [0] + [w * g for w in weights for g in (-1, 0, 1)]
    rest = range(-12, 13)
    largest = max(map(abs, weights))
    coming = max(abs(abs(r + t) - abs(r)) for r in rest for t in terms)
    replaced = max(abs(abs(r + s) - abs(r + t)) for r in rest for s in terms for t in terms)
    assert coming == of_scores(5, largest, replaces=False).linf == largest
    assert replaced == of_scores(5, largest, replaces=True).linf == 2 * largest or weights[0] != -weights[1]
    assert replaced <= of_scores(5, largest, replaces=True).linf
    assert of_scores(5, largest, replaces=False).l1 == Fraction(5 * largest)


def test_chi_squared_is_that_of_the_table_of_alleles() -> None:
    from scipy.stats import chi2_contingency

    rng = np.random.default_rng(0)
    cases, controls = rng.integers(0, 3, (40, 4)), rng.integers(0, 3, (60, 4))
    found = chi_squared((cases - 1).sum(axis=0), (controls - 1).sum(axis=0), 40, 60)
    for site in range(4):
        a, b = cases[:, site].sum(), controls[:, site].sum()
        expected = chi2_contingency([[a, 80 - a], [b, 120 - b]], correction=False).statistic
        assert found[site] == pytest.approx(expected)
    assert chi_squared(np.array([-99.0]), np.array([-99.0]), 3, -4).tolist() == [0]
