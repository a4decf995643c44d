"""Many questions one after the other: near the truth, within pure ε, alike on neighbours, and refused where wrong."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from publish.tables.worlds import CITIES, COUNTRIES, Heard, account, people, rows_of
from sordino.accounting.bound import Bound
from sordino.accounting.events import Pure, SparseVector
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError
from sordino.mechanisms.watch import Watch
from sordino.publish.recipes import read
from sordino.publish.tables.multiplicative import Weighing
from sordino.publish.tables.purse import FINENESS

ONE = Bound(1, Fraction(1), Fraction(1), Fraction(1))
QUESTIONS = [so.publish.those(city=city, country=country) for city in CITIES for country in COUNTRIES] * 3
COLUMNS = ["city", "country", "married"]


def asking(table: Any = None, budget: Any = None, **words: Any) -> Any:
    data = account(rows_of(3_000) if table is None else table, budget or so.budget(epsilon=10), **words)
    return so.publish.answers(data, COLUMNS, QUESTIONS, updates=9)


def test_answers_are_near_and_the_model_learns() -> None:
    job = asking()
    price = job.price(epsilon=8)
    made = job.run(epsilon=8)
    table = rows_of(3_000)
    pairs = list(zip(table["city"].to_pylist(), table["country"].to_pylist(), strict=True))
    truth = np.array([pairs.count((city, country)) for city in CITIES for country in COUNTRIES] * 3)
    assert 3 <= made.counted.sum() <= 9
    assert np.abs(made.answers - truth)[made.counted].max() < 3 * price.error_of("counted").amount
    assert np.abs(made.answers[18:] - truth[18:]).mean() < np.abs(truth - 3_000 / 9).mean() / 4
    assert made.ask(city="Oslo") == pytest.approx(table["city"].to_pylist().count("Oslo"), abs=250)
    assert job.data.account.used == pytest.approx(0.8)


def test_what_is_run_adds_up_to_epsilon() -> None:
    plan = Weighing(Fraction(1), ONE, 7, 100)
    compared = plan.comparison.event(plan.scores)
    assert isinstance(compared, SparseVector)
    assert compared.positives == 7
    counted = ONE.l1 / plan.count.scale
    assert ONE.l1 / plan.size.scale + compared.epsilon_threshold + compared.epsilon_queries + 7 * counted == 1


def test_neighbours_differ_within_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for relation in (Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE):
        table, asked = rows_of(60), list[Any]()
        seen: list[Heard] = []
        other = table.slice(1)
        if relation is Neighbours.REPLACE_ONE:
            other = pa.concat_tables([other, table.slice(9, 1)])
        for each in (table, other):
            with monkeypatch.context() as patched:
                compared: list[int] = []

                def ask(watch: Watch, steps: int, compared: list[int] = compared) -> bool:
                    compared.append(steps)
                    return len(compared) % 3 == 0 and watch.positives_left > 0

                patched.setattr(Watch, "ask", ask)
                seen.append(Heard(patched, seen[0].answers if seen else None))
                job = asking(each, neighbours=relation)
                assert job.plan(epsilon=1).event() == Pure(Fraction(1))
                job.run(epsilon=1)
                asked.append(np.array(compared))
        most = int(job.plan(epsilon=1).design.bound.l1)
        assert (
            np.abs(asked[0] - asked[1]).max() == most * FINENESS or np.abs(asked[0] - asked[1]).max() <= most * FINENESS
        )
        assert seen[0].events == seen[1].events
        for one, two in zip(seen[0].values, seen[1].values, strict=True):
            assert abs(int(one) - int(two)) <= most


def test_saved_and_read_again(tmp_path: Path) -> None:
    job = asking(rows_of(50))
    made = job.run(epsilon=1)
    again = so.publish.load(made.save(tmp_path / "made"))
    assert again.manifest == made.manifest
    assert again.ask(city="Rome") == made.ask(city="Rome")
    assert again.to_arrow().num_rows == len(QUESTIONS)
    assert read("answers", people(), json.loads(json.dumps(job.recipe.plain()))) == job.recipe


def test_what_cannot_be_asked_is_refused() -> None:
    data = account()
    for columns, questions, code in (
        (["age"], [so.publish.those(age=3)], "SRD-P004"),
        (["city"], [so.publish.those(city="Paris")], "SRD-P102"),
        (["city"], [so.publish.those(married=True)], "SRD-P101"),
        (["city"], [], "SRD-A001"),
        ([], [so.publish.those(city="Oslo")], "SRD-P101"),
    ):
        with pytest.raises(ArgumentError, match=code):
            so.publish.answers(data, columns, questions)
    with pytest.raises(ArgumentError, match="SRD-A003"):
        asking(budget=so.budget(rho=1)).price(rho=1)
