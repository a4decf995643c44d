"""Trees of places: any order of rows, one parent each, leaves that hang on something."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sordino as so
from publish.hierarchies.towns import LEVELS, PLACES, country
from sordino.errors import ArgumentError
from sordino.publish.hierarchies.tree import tree_from_plain


def test_places_of_one_parent_stand_together_in_the_order_in_which_they_come() -> None:
    mixed = {"state": ["B", "A", "B", "A", "A"], "county": ["b", "a", "c", "a", "d"], "tract": [5, 4, 3, 2, 1]}
    found = so.publish.tree(mixed, ["state", "county", "tract"])
    assert found.places == (("B", "A"), ("b", "c", "a", "d"), (5, 3, 4, 2, 1))
    assert found.parents == ((0, 0, 1, 1), (0, 1, 2, 2, 3))
    assert [each.tolist() for each in found.first_children] == [[0, 2], [0, 1, 2, 4]]
    assert found.path(1) == {"state": ["B", "B", "A", "A"], "county": ["b", "c", "a", "d"]}
    assert repr(found) == "Tree(state: 2, county: 4, tract: 5)"


def test_a_level_alone_is_a_tree_and_tables_of_all_kinds_are_read() -> None:
    assert so.publish.tree({"city": ["Oslo", "Rome"]}, ["city"]).first_children == ()
    frames = (
        pa.table(PLACES),
        pd.DataFrame(PLACES),
        {**PLACES, "more": [1] * 6},
        pa.table(PLACES).take([0, 0, *range(6)]),
    )
    assert {so.publish.tree(each, LEVELS) for each in frames} == {country()}


def test_upper_levels_are_sums() -> None:
    leaves = np.arange(12).reshape(6, 2)
    states, counties, same = country().summed(leaves)
    assert same is leaves
    assert counties.tolist() == [[2, 4], [4, 5], [24, 27]]
    assert states.tolist() == [[6, 9], [24, 27]]


def test_a_small_tree_is_part_of_the_parameters_and_a_large_one_is_named_by_its_digest() -> None:
    assert tree_from_plain(country().plain()) == country()
    large = so.publish.tree({"place": list(range(2000))}, ["place"])
    assert set(large.plain()) == {"levels", "sizes", "digest"}
    with pytest.raises(ArgumentError, match="SRD-P203"):
        tree_from_plain(large.plain())


@pytest.mark.parametrize(
    ("places", "levels", "code"),
    [
        ({"state": ["A", "B"], "county": ["one", "one"]}, ["state", "county"], "SRD-P201"),
        ({"state": ["A", "B", "A"], "county": ["one", "two", "two"]}, ["state", "county"], "SRD-P201"),
        ({"state": ["A", None], "county": ["one", "two"]}, ["state", "county"], "SRD-P202"),
        ({"state": ["A", "B"], "county": ["one", None]}, ["state", "county"], "SRD-P202"),
        ({"state": ["A"]}, ["state", "county"], "SRD-P203"),
        ({"state": []}, ["state"], "SRD-P203"),
        ({"state": ["A"]}, "state", "SRD-A001"),
        ({"state": ["A"]}, [], "SRD-A001"),
        ({"state": ["A"]}, ["state", "state"], "SRD-A001"),
        ({"state": ["A", 1]}, ["state"], "SRD-A001"),
        ({"state": ["A"], "county": ["a", "b"]}, ["state", "county"], "SRD-A001"),
        ({"state": [0.5]}, ["state"], "SRD-A001"),
        (7, ["state"], "SRD-A001"),
    ],
)
def test_what_is_no_tree_is_refused(places: Any, levels: Any, code: str) -> None:
    with pytest.raises(ArgumentError, match=code):
        so.publish.tree(places, levels)


def test_a_level_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(ArgumentError, match=r"no level 'town'; there are 'state', 'county', 'tract'.*SRD-P203"):
        country().level("town")
