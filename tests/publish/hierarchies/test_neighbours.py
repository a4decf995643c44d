"""The neighbour oracle: without one person exact counts differ, within the bound, and nothing else does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from publish.hierarchies.towns import counted, people, rows
from query.engines import Engine
from sordino.accounting.neighbours import Neighbours
from sordino.publish.publication import Running

TABLE = rows(60, seed=4)
TWICE = pa.concat_tables([TABLE, rows(60, seed=5)])


def observed(data: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], dict[str, Any]]:
    """Return what met noise, and everything that can be seen besides the noise; noise is left out."""
    exact: list[Any] = []

    def release(_self: Running, _mechanism: Any, bound: Any, value: Any) -> Any:
        exact.append((np.array(value), bound))
        return np.round(np.asarray(value) * 0 + 7)

    asked = counted(data, so.unlimited("a test"))
    stages: list[Any] = []
    with monkeypatch.context() as patched:
        patched.setattr(Running, "release", release)
        made = asked.telling(lambda stage, **public: stages.append((stage, public))).run(rho=1)
    seen = {
        "price": str(asked.price(rho=1)),
        "plan": asked.plan(rho=1).digest(),
        "stages": stages,
        "json": made.to_json(),
        "files": list(made.files),
        "whole": made.whole("tract").to_pydict(),
        "unbiased": made.unbiased("county", "race").to_pydict(),
        "shapes": [value.shape for value, _ in exact],
    }
    return exact, seen


def within(difference: Any, bound: Any) -> bool:
    flat = np.abs(difference.reshape(-1)).astype(int)
    return (
        np.count_nonzero(flat) <= bound.l0
        and flat.sum() <= bound.l1
        and (flat**2).sum() <= bound.l2_squared
        and flat.max() <= bound.linf
    )


@pytest.mark.parametrize("limit", [1, 2])
def test_all_but_the_noise_is_the_same_without_one_person(
    engine: Engine, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = TABLE if limit == 1 else TWICE
    monkeypatch.setattr("sordino.noise.uniform", lambda _most: 5)  # the salt: one for both worlds
    here, seen = observed(people(engine.load("people", table), limit=limit), monkeypatch)
    gone = [0] if engine.name == "spark" else [0, 7, 31]
    for person in gone:
        rest = table.filter(pa.compute.not_equal(table["person"], person))
        there, seen_there = observed(people(engine.load("people", rest), limit=limit), monkeypatch)
        for (one, bound), (other, _) in zip(here, there, strict=True):
            assert within(one - other, bound)
        moved = any((one != other).any() for (one, _), (other, _) in zip(here, there, strict=True))
        counted_person = table.filter(pa.compute.equal(table["person"], person)).to_pylist()
        assert moved or all(row["tract"] == "sea" or row["race"] == "z" for row in counted_person)
        assert seen_there == seen


def test_whoever_is_replaced_stays_within_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sordino.noise.uniform", lambda _most: 5)
    words = {"neighbours": Neighbours.REPLACE_ONE}
    here, seen = observed(people(TABLE, **words), monkeypatch)
    for seed in range(6):
        other = pa.concat_tables([rows(1, seed=seed), TABLE.slice(1)])
        there, seen_there = observed(people(other, **words), monkeypatch)
        for (one, bound), (two, _) in zip(here, there, strict=True):
            assert bound.neighbours is Neighbours.REPLACE_ONE
            assert not (one != two).any() or within(one - two, bound)
        assert seen_there == seen
