"""Ranges of a column: priced, run, read again; D and D without one person differ by no more than is paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from publish.replaying import judged
from sordino.accounting.events import Composed, DiscreteLaplace
from sordino.errors import ArgumentError, RunError
from sordino.publish.intervals import reach
from sordino.publish.publication import Publication
from sordino.publish.recipes import read
from sordino.publish.workloads.range_release import Ranges

DICE = np.random.default_rng(30)
AGES = np.clip(DICE.gamma(3, 12, 600), 0, 120)
PEOPLE = pa.table(
    {
        "person": np.arange(600) // 2,
        "age": pa.array(AGES, mask=np.arange(600) % 50 == 0),
        "grade": DICE.choice(["low", "middle", "high", "other"], 600),
    }
)


def people(keep: Any = None, **words: Any) -> Any:
    columns = {"age": so.bounds(0, 100), "grade": so.keys(["low", "middle", "high"])}
    table = PEOPLE if keep is None else PEOPLE.filter(keep)
    return so.dataset("people", table, unit="person", columns=columns, limits=so.limits(rows=2), **words)


def ranges(data: Any = None, budget: Any = None, **words: Any) -> Publication[Ranges]:
    given = {"column": "age", "cells": 40, **words}
    return so.publish.ranges(so.account(data or people(), budget or so.budget(epsilon=100)), **given)


WITHOUT_ONE = people(pa.array(np.arange(600) // 2 != 17))
LARGE = so.budget(epsilon=100, delta=1e-6)


@pytest.mark.parametrize(("budget", "words"), [(so.budget(epsilon=9), {"cells": 40}), (LARGE, {"cells": 40}),
                                              (so.budget(rho=9), {"column": "grade", "cells": None})])  # fmt: skip
def test_neighbours_differ_within_the_bound_alone(budget: Any, words: Any) -> None:
    spent = {"rho": 1} if budget.rho is not None else {"epsilon": 1}
    seen = judged(lambda data: ranges(data, budget, **words), people(), WITHOUT_ONE, **spent)
    for mechanism, bound, value in seen:
        assert mechanism.event(bound) is not None
        assert value.dtype == np.int64


def test_pure_epsilon_is_divided_between_the_levels() -> None:
    plan = ranges(cells=400).plan(epsilon=1)
    event = plan.event()
    assert isinstance(event, Composed)
    levels = [each for each in event.events if isinstance(each, DiscreteLaplace)]
    assert len(levels) == len(event.events) == 3
    assert 1 - 1e-9 < sum(each.sensitivity / each.scale for each in levels) <= 1


@pytest.mark.parametrize("workload", ["ranges", "prefixes"])
@pytest.mark.parametrize("budget", [so.budget(epsilon=9), LARGE])
def test_with_little_noise_ranges_are_right(budget: Any, workload: Any, tmp_path: Path) -> None:
    spent = {"epsilon": 9} if not budget.delta else {"epsilon": 99}
    made = ranges(None, budget, workload=workload).run(**spent)
    present = AGES[np.arange(600) % 50 != 0]
    for first, last in ((0, 39), (4, 9), (12, 12)):
        answer = made.between(first, last)
        low, high = first * 2.5, (last + 1) * 2.5
        truth = int(((present >= low) & ((present < high) | (last == 39))).sum())
        assert answer.low - 30 <= truth <= answer.high + 30
        assert abs(answer.value - truth) < 60
    assert made.total().unbiased == pytest.approx(made.unbiased.sum())
    again = so.publish.load(made.save(tmp_path))
    assert again.manifest == made.manifest
    assert again.between(3, 8) == made.between(3, 8)
    assert made.table().num_rows == 40
    lengths, off = made.error_by_length()
    assert lengths[0] == 1
    assert np.all(off > 0)
    assert made.plot().get_axes()


@pytest.mark.parametrize("budget", [so.budget(epsilon=100), LARGE])
def test_the_price_says_the_error(budget: Any) -> None:
    asked = ranges(None, budget)
    price = asked.price(epsilon=1)
    made = asked.run(epsilon=1)
    cells = made.reading
    queries = np.array([(np.arange(40) >= a) & (np.arange(40) <= b) for a in range(40) for b in range(a, 40)])
    said = price.error_of("ranges").amount
    assert float(np.sqrt(cells.variances(queries.astype(float)).mean())) == pytest.approx(said, rel=1e-6)
    goal = asked.price(error=so.within(said / 2, of="ranges"))
    assert goal.error_of("ranges").amount <= said / 2


@pytest.mark.slow
def test_intervals_cover_and_errors_are_as_priced() -> None:
    data = people()
    account = so.account(data, so.unlimited("a test"))
    asked = so.publish.ranges(account, "age", cells=40)
    present = np.clip(AGES[np.arange(600) % 50 != 0], 0, 100)
    truth = np.bincount(np.minimum((present / 2.5).astype(int), 39), minlength=40)
    runs = 150
    covered, squares = 0, 0.0
    for _ in range(runs):
        answer = asked.run(epsilon="0.5")
        one = answer.between(5, 24)
        exact = truth[5:25].sum()
        covered += one.low <= exact <= one.high
        squares += (one.unbiased - exact) ** 2
    query = ((np.arange(40) >= 5) & (np.arange(40) <= 24)).astype(float)
    expected = float(answer.reading.variances(query)[0])
    assert covered >= 0.88 * runs, f"n {runs}, k {covered}"
    assert 0.7 < squares / runs / expected < 1.45, f"{squares / runs} against {expected}"


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_intervals_reach_beyond_laplace_and_gaussian(confidence: float) -> None:
    dice = np.random.default_rng(1)
    for draws in (1, 2, 5, 40):
        sums = dice.laplace(0, 1 / np.sqrt(2), (100_000, draws)).sum(1) / np.sqrt(draws)
        assert (np.abs(sums) <= reach(confidence)).mean() >= confidence - 0.005


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"column": "height"}, "SRD-P301"),
        ({"cells": None}, "SRD-P302"),
        ({"column": "grade"}, "SRD-P302"),
        ({"column": "person"}, "SRD-P004"),
        ({"cells": 0}, "SRD-A002"),
        ({"workload": "all"}, "SRD-A"),
    ],
)
def test_what_metadata_shows_to_be_wrong_is_refused(words: Any, code: str) -> None:
    with pytest.raises(ArgumentError, match=code):
        ranges(**words)


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    made = ranges().run(epsilon=1)
    with pytest.raises(ArgumentError, match="SRD-P303"):
        made.between(5, 4)


def test_a_recipe_is_read_from_what_it_says() -> None:
    for words in ({}, {"column": "grade", "cells": None, "workload": "prefixes"}):
        asked = ranges(**words)
        assert read("ranges", asked.data.protected, asked.recipe.plain()) == asked.recipe


def test_a_run_that_fails_is_charged_and_releases_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ranges()

    def broken(*_: Any) -> Any:
        raise ValueError("the value 42 of person 7")

    monkeypatch.setattr(asked.data, "compute", broken, raising=False)
    with pytest.raises(RunError) as raised:
        asked.run(epsilon=1)
    assert "42" not in str(raised.value)
    assert asked.data.account.used == pytest.approx(0.01)


def test_one_cell_and_replaced_rows() -> None:
    table = PEOPLE.slice(0, 50).drop_columns("person")
    data = so.dataset(
        "rows", table, unit=so.ROW, columns={"age": so.bounds(0, 100)}, neighbours=so.Neighbours.REPLACE_ONE
    )
    for cells in (1, 2, 9):
        made = so.publish.ranges(so.account(data, so.budget(rho=1)), "age", cells=cells).run(rho=1)
        assert made.total().low < 50 + 30
