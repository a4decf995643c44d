"""Replacing within a public part, enumerated: parts keep their numbers, and prices are those of replace-one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

import sordino as so
from sordino.accounting.events import DiscreteGaussian
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.part import not_protected, part_of, within
from sordino.errors import ArgumentError

ROWS = [(part, value) for part in "ab" for value in range(2)]
DATA = list(product(ROWS, repeat=3))
Data = tuple[tuple[str, int], ...]


def counts(data: Data) -> tuple[int, ...]:
    return tuple(data.count(row) for row in ROWS)


def totals(data: Data) -> tuple[int, ...]:
    return tuple(sum(part == each for part, _ in data) for each in "ab")


def replaced(data: Data) -> list[Data]:
    """Return all data sets with one row replaced by any other."""
    return [(*data[:at], row, *data[at + 1 :]) for at in range(len(data)) for row in ROWS if row != data[at]]


def replaced_within(data: Data) -> list[Data]:
    return [(*data[:at], (data[at][0], value), *data[at + 1 :]) for at in range(len(data)) for value in range(2)]


def squared(one: Data, other: Data) -> int:
    return sum((a - b) ** 2 for a, b in zip(counts(one), counts(other), strict=True))


def test_neighbours_within_a_part_keep_its_numbers_and_others_do_not() -> None:
    assert all(totals(data) == totals(other) for data in DATA for other in replaced_within(data))
    assert any(totals(data) != totals(other) for data in DATA for other in replaced(data))


def test_they_are_neighbours_under_replace_one_and_cost_what_those_cost() -> None:
    """Rényi divergences of Gaussian noise are squared distances over 2σ²: the largest over all neighbours are alike."""
    for data in DATA:
        anywhere = set(replaced(data)) | {data}
        assert set(replaced_within(data)) <= anywhere
    within_parts = max(squared(data, other) for data in DATA for other in replaced_within(data))
    anywhere_at_all = max(squared(data, other) for data in DATA for other in replaced(data))
    bound = so.Bound.vector(l0=2, linf=1, neighbours=Neighbours.REPLACE_ONE, unit=within(so.ROW, "part"))
    assert within_parts == anywhere_at_all == bound.l2_squared
    event = DiscreteGaussian(variance=4, sensitivity_squared=bound.l2_squared, coordinates=2)
    account = so.account(Protected(), so.budget(rho=1)).account
    account.reserve(event, bound)
    assert account.used == Fraction(within_parts, 2 * 4)


class Protected:
    name = "people"
    unit = within(so.ROW, "part")
    neighbours = Neighbours.REPLACE_ONE


@pytest.mark.parametrize("unit", [so.ROW, within(so.ROW, "county"), so.Unit("person")])
def test_an_account_of_others_takes_nothing_of_it_nor_it_of_theirs(unit: so.Unit) -> None:
    event = DiscreteGaussian(variance=4, sensitivity_squared=2, coordinates=2)
    ours, theirs = (
        so.Bound.vector(l0=2, linf=1, neighbours=Neighbours.REPLACE_ONE, unit=each) for each in (Protected.unit, unit)
    )
    account = so.account(Protected(), so.budget(rho=1)).account
    with pytest.raises(ArgumentError, match="do not add up"):
        account.reserve(event, theirs)
    other = so.account(type("Other", (Protected,), {"unit": unit})(), so.budget(rho=1)).account
    with pytest.raises(ArgumentError, match="do not add up"):
        other.reserve(event, ours)


def test_what_is_not_protected_is_said_in_words() -> None:
    assert not_protected("row", "add-remove") == ()
    assert not_protected("row", "replace-one") == ("how many rows there are in all",)
    named = within(so.ROW, "state").name
    assert not_protected(named, "replace-one")[1] == "how many rows there are in each state"
    assert (part_of(named), part_of("row"), part_of("(person, day)")) == ("state", None, None)
