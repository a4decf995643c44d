"""Digests of public values: canonical, complete, the same in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.digest import digest_of
from sordino.accounting.events import Laplace, Pure
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.plan import Single


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class One:
    value: Any


@dataclass(frozen=True)
class Other:
    value: Any


DIFFERENT: list[Any] = [
    None, True, False, 0, 1, -1, 1.0, 0.0, -0.0, float("nan"), "1", "", "a", b"a", b"", Fraction(1, 2), 0.5,
    Decimal("0.5"), Decimal("0.50"), (), ((),), (1, 23), (12, 3), ("a", "b"), ("ab",), ("a", ("b",)), {}, {"a": 1},
    {"a": "1"}, {1: "a"}, frozenset(), frozenset({1}), frozenset({1, 2}), Colour.RED, Colour.BLUE,
    One(1), Other(1), One((1,)), One(One(1)), date(2026, 11, 3), datetime(2026, 11, 3, tzinfo=UTC), time(0),
    timedelta(1), timedelta(seconds=1), np.zeros(2), np.zeros((2, 1)), np.zeros(2, dtype=np.float32), np.ones(2),
]  # fmt: skip


def test_what_differs_has_another_digest() -> None:
    for one, other in combinations(DIFFERENT, 2):
        assert digest_of(one) != digest_of(other), (one, other)
        assert digest_of((one, "x")) != digest_of((other, "x")), (one, other)


def test_the_order_of_dictionaries_and_sets_has_no_say() -> None:
    keys = [f"key {number}" for number in range(100)]
    assert digest_of(dict.fromkeys(keys, 1)) == digest_of(dict.fromkeys(reversed(keys), 1))
    assert digest_of(frozenset(keys)) == digest_of(frozenset(reversed(keys)))
    assert digest_of([1, 2]) == digest_of((1, 2))
    assert digest_of(np.int64(3)) == digest_of(3)


@pytest.mark.parametrize("value", [object(), print, One(lambda: 1), np.array([object()]), 1j])
def test_what_has_no_spelling_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="no spelling"):
        digest_of(value)


def test_the_plan_of_one_mechanism_is_its_event_and_bound() -> None:
    bounds = [Bound.scalar(1), Bound.scalar(2), Bound.scalar(unit=Unit("user"))]
    bounds.append(Bound.scalar(neighbours=Neighbours.REPLACE_ONE))
    plans = [Single(event, bound) for event in (Laplace(3), Laplace(4), Pure(3)) for bound in bounds]
    assert len({plan.digest() for plan in plans}) == len(plans)
    assert Single(Laplace(3), bounds[0]).digest() == Single(Laplace("3"), Bound.scalar("1")).digest()


ASK = """
import pyarrow as pa, sordino as so
table = pa.table({"rider": [1, 1, 2], "fare": [9.0, 5.0, 7.0], "city": ["Oslo", "Rome", "Oslo"]})
columns = {"fare": so.bounds(0, 100), "city": so.keys(["Oslo", "Rome"])}
rides = so.dataset("rides", table, unit="rider", columns=columns, limits=so.limits(rows=2))
data = so.account(rides, so.budget(epsilon=1, delta=1e-9))
for text, words in [
    ("SELECT city, COUNT(*) AS n, AVG(fare) AS f FROM rides GROUP BY city", {}),
    ("SELECT city, COUNT(*) AS n, AVG(fare) AS f FROM rides GROUP BY city", {"weights": {"n": 2.0, "f": 1.0}}),
    ("SELECT city, COUNT(*) AS n, AVG(fare) AS f FROM rides GROUP BY city", {"mechanism": "laplace"}),
    ("SELECT city, COUNT(*) AS n, AVG(fare) AS g FROM rides GROUP BY city", {}),
    ("SELECT city, COUNT(*) AS n, AVG(fare) AS f FROM rides WHERE fare < 50 GROUP BY city", {}),
    ("SELECT city, COUNT(*) AS n, AVG(fare) AS f FROM rides WHERE fare < 51 GROUP BY city", {}),
    ("SELECT MEDIAN(fare) AS m FROM rides", {}),
    ("SELECT MEDIAN(fare) AS m FROM rides", {"intervals": False}),
    ("SELECT MAX(fare) AS m FROM rides", {}),
    ("SELECT city, COUNT(*) AS n FROM rides GROUP BY ROLLUP (city)", {}),
    ("SELECT COUNT(DISTINCT city) AS n FROM rides", {}),
]:
    print(data.sql(text).plan(epsilon=0.5, **words).digest())
"""


def test_questions_have_digests_of_their_own_the_same_in_every_process() -> None:
    found = []
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed}
        ran = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)  # noqa: S603
        found.append(ran.stdout.split())
    assert found[0] == found[1]
    assert len(set(found[0])) == len(found[0]) == 11
