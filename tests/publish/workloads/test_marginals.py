"""Marginals of several columns: priced, run, read again; neighbours differ by no more than is paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from publish.replaying import judged
from sordino.accounting.events import Composed, Gaussian
from sordino.errors import ArgumentError
from sordino.publish.publication import Publication
from sordino.publish.recipes import read
from sordino.publish.workloads.margin_release import Margins

DICE = np.random.default_rng(40)
PEOPLE = pa.table(
    {
        "person": np.arange(500),
        "age": DICE.uniform(0, 100, 500),
        "city": DICE.choice(["Oslo", "Rome", "Bern"], 500),
        "member": DICE.choice([True, False], 500),
    }
)


def people(keep: Any = None) -> Any:
    columns = {"age": so.bounds(0, 100), "city": so.keys(["Oslo", "Rome", "Bern"]), "member": so.keys([True, False])}
    table = PEOPLE if keep is None else PEOPLE.filter(keep)
    return so.dataset("people", table, unit="person", columns=columns, limits=so.limits(rows=1))


def marginals(data: Any = None, **words: Any) -> Publication[Margins]:
    given: dict[str, Any] = {"columns": ["age", "city", "member"], "cells": {"age": 4}, **words}
    return so.publish.marginals(so.account(data or people(), so.budget(rho=1000)), **given)


def test_neighbours_differ_within_the_bound_alone() -> None:
    seen = judged(marginals, people(), people(pa.array(np.arange(500) != 99)), rho=1)
    assert len(seen) == 7


def test_all_parts_are_charged() -> None:
    event = marginals().plan(rho="0.5").event()
    assert isinstance(event, Composed)
    parts = [each for each in event.events if isinstance(each, Gaussian)]
    assert len(parts) == len(event.events) == 7
    assert 0.4999 < sum(each.sensitivity_squared / (2 * each.variance) for each in parts) <= 0.5


def test_with_little_noise_marginals_are_right(tmp_path: Path) -> None:
    made = marginals().run(rho=900)
    ages = (PEOPLE["age"].to_numpy() / 25).astype(int)
    cities = np.array(["Oslo", "Rome", "Bern"])
    truth = [
        [int(((ages == a) & (PEOPLE["city"].to_numpy(zero_copy_only=False) == c)).sum()) for a in range(4)]
        for c in cities
    ]
    np.testing.assert_allclose(made.unbiased("city", "age"), truth, atol=2)
    np.testing.assert_allclose(made.marginal("age"), np.sum(truth, 0), atol=2)
    assert made.unbiased() == pytest.approx(500, abs=2)
    assert made.table("city", "member").num_rows == 6
    assert made.plot().get_axes()
    again = so.publish.load(made.save(tmp_path))
    assert again.manifest == made.manifest
    np.testing.assert_array_equal(again.unbiased("city", "age"), made.unbiased("city", "age"))


def test_the_price_says_the_error_of_each_marginal() -> None:
    asked = marginals()
    price = asked.price(rho=1)
    made = asked.run(rho=1)
    for name in ("age × city", "age × member", "city × member"):
        assert price.error_of(name).amount > made.standard_deviation(*name.split(" × "))
    with pytest.raises(ArgumentError, match="SRD-A003"):
        so.publish.marginals(so.account(people(), so.budget(epsilon=1)), ["city", "member"]).price(epsilon=1)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"columns": ["age", "height"]}, "SRD-P301"),
        ({"columns": ["city", "city"], "cells": None}, "SRD-P301"),
        ({"sets": [["city", "person"]]}, "SRD-P301"),
        ({"sets": []}, "SRD-P301"),
        ({"cells": None}, "SRD-P302"),
        ({"columns": ["person", "city"], "cells": None}, "SRD-P004"),
        ({"order": 4}, "SRD-A002"),
    ],
)
def test_what_metadata_shows_to_be_wrong_is_refused(words: Any, code: str) -> None:
    with pytest.raises(ArgumentError, match=code):
        marginals(**words)


def test_a_marginal_that_was_not_measured_is_refused() -> None:
    made = marginals(sets=[["age", "city"], ["member"]]).run(rho=1)
    with pytest.raises(ArgumentError, match="SRD-P304"):
        made.unbiased("city", "member")
    with pytest.raises(ArgumentError, match="SRD-P301"):
        made.unbiased("city", "city")


def test_a_recipe_is_read_from_what_it_says() -> None:
    for words in ({}, {"order": 1}, {"sets": [["member", "age"], ["city"]]}):
        asked = marginals(**words)
        assert read("marginals", asked.data.protected, asked.recipe.plain()) == asked.recipe
