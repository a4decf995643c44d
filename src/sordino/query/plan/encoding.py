"""From what is asked to what is made noisy: rows as vectors of whole numbers that add up to little.

Counts, sums, means, variances and covariances are all functions of a few *statistics*, sums over rows of monomials in
the clipped values (1, x, x², x·y …). Adding noise to each statistic by itself would divide ε among them. Instead rows
are encoded as *features* that share one unit: with x scaled to [−1, 1], the pair (1+x)/2 and (1−x)/2 is never negative
and adds up to 1, so one row changes the pair by 1 in the 1-norm, and the pair tells both the count (their sum) and the
sum of x (their difference). For squares the three Bernstein polynomials (1−x)²/4, (1−x²)/2, (1+x)²/4 do the same; for
several columns the products of their bases; a column that may be missing gets one more feature, "missing".

**Guarantee** (`tensor`): a row's features are whole numbers that are not negative and add up to exactly `reach`, so
their 1-norm is `reach` and their 2-norm at most `reach`. (`single`): a statistic by itself is at most `reach`.
**Proof.** Each column's basis is not negative for steps within ±H and adds up to (2H)^degree when the column is there;
when it is not, all of it is zero but "missing", which is (2H)^degree. Products of such bases add up to the product. If
features are left out the sum only gets smaller. ∎
Everything is in whole steps, so it is exact. Features are linear in the statistics, with whole coefficients: the engine
adds up monomials only, and features are formed from those sums afterwards.
**Source**: the pair is folklore (sum and count under add/remove neighbours); Bernstein bases likewise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from sordino.query.model.bounding import Bounding
from sordino.query.model.task import Monomial


@dataclass(frozen=True)
class People:
    """The statistic that counts owners."""


@dataclass(frozen=True)
class Distinct:
    """The statistic that counts different values of the expression at this place."""

    place: int


Statistic = Monomial | People | Distinct
Polynomial = Mapping[Statistic, int]


@dataclass(frozen=True)
class Variable:
    """A measure's part in an encoding: where it stands, its steps, the highest power asked for, and if it can miss."""

    place: int
    steps: int
    degree: int
    nullable: bool


@dataclass(frozen=True)
class Block:
    """Features that get the same noise. A row changes them by at most `reach` in the 1-norm (so also in the 2-norm)."""

    features: tuple[tuple[tuple[Statistic, int], ...], ...]
    reach: int

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """All statistics that the features are made of, in order of appearance."""
        return tuple(dict.fromkeys(statistic for feature in self.features for statistic, _ in feature))


def weight_unit(block: Block, bounding: Bounding) -> int:
    """Return what a full row weighs in a block's sums: people and different values are counted without weights."""
    return bounding.unit if isinstance(block.features[0][0][0], Monomial) else 1


class Encoder:
    """Builds blocks over `size` measures."""

    def __init__(self, size: int) -> None:
        self.one = Monomial((0,) * size)

    def power(self, exponents: Mapping[int, int], present: Iterable[int] = ()) -> Monomial:
        """Return the monomial with these powers (place → exponent), which demands the places in `present`, too."""
        powers = tuple(exponents.get(place, 0) for place in range(len(self.one.powers)))
        return Monomial(powers, frozenset(present) | {place for place, power in exponents.items() if power})

    def single(self, statistic: Statistic, reach: int) -> Block:
        """Return one statistic as a block of its own."""
        return Block((((statistic, 1),),), reach)

    def tensor(self, variables: Iterable[Variable], *, count_missing: bool) -> Block:
        """Return the products of the variables' bases. Without `count_missing`, rows that lack a value are not seen."""
        chosen = list(variables)
        reach = 1
        for variable in chosen:
            reach *= (2 * variable.steps) ** variable.degree
        factors = [self._basis(variable, count_missing=count_missing) for variable in chosen]
        features = []
        for combination in product(*factors):
            feature: Polynomial = {self.one: 1}
            for factor in combination:
                feature = _multiply(feature, factor)
            features.append(tuple(feature.items()))
        return Block(tuple(features), reach)

    def _basis(self, variable: Variable, *, count_missing: bool) -> list[Polynomial]:
        place, steps = variable.place, variable.steps
        here = self.power({}, [place] if variable.nullable else [])
        step, square = self.power({place: 1}), self.power({place: 2})
        bases: list[list[Polynomial]] = [
            [{here: 1}],
            [{here: steps, step: 1}, {here: steps, step: -1}],
            [
                {here: steps**2, step: -2 * steps, square: 1},
                {here: 2 * steps**2, square: -2},
                {here: steps**2, step: 2 * steps, square: 1},
            ],
        ]
        basis = bases[variable.degree]
        if variable.nullable and count_missing:
            whole = (2 * steps) ** variable.degree
            basis = [*basis, {self.one: whole, here: -whole}]
        return basis


def _multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    result: dict[Statistic, int] = {}
    for first, many in left.items():
        for second, times in right.items():
            term = _monomial_product(first, second)
            result[term] = result.get(term, 0) + many * times
    return {term: coefficient for term, coefficient in result.items() if coefficient}


def _monomial_product(left: Statistic, right: Statistic) -> Monomial:
    if not isinstance(left, Monomial) or not isinstance(right, Monomial):
        raise TypeError("only monomials have products")
    powers = tuple(first + second for first, second in zip(left.powers, right.powers, strict=True))
    return Monomial(powers, left.present | right.present)
