"""Reconstruction of a small place from what is published: raw tables give everybody away, a hierarchy's do not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from sordino.accounting import zcdp
from sordino.accounting.events import Concentrated
from sordino.audit.attacks.published import Fact, Place, counts_by
from sordino.audit.attacks.rates import Contrast, Rate

PLACE = Place({"age": range(4), "sex": ("f", "m"), "race": ("x", "y")})
TREE = so.publish.tree({"town": ["T", "T"], "block": ["here", "there"]}, ["town", "block"])
QUERIES = {"total": [], "sex by age": ["sex", "age"], "race": ["race"], "cells": ["age", "sex", "race"]}
RHO = 0.25
People = list[dict[str, Any]]


def block(people: int, dice: np.random.Generator) -> People:
    return [
        {"age": int(dice.integers(4)), "sex": str(dice.choice(["f", "m"])), "race": str(dice.choice(["x", "y"]))}
        for _ in range(people)
    ]


def raw(people: People) -> list[Fact]:
    """Return every table of the hierarchy, exactly."""
    facts = [Fact(count=len(people))]
    for columns in list(QUERIES.values())[1:]:
        facts += counts_by(PLACE, columns, PLACE.tabulate(people, columns))
    return facts


def released(people: People, kind: str) -> list[Fact]:
    """Return the same tables of the block, as a hierarchy releases them."""
    table = pa.table(
        {"block": ["here"] * len(people), **{name: [each[name] for each in people] for name in PLACE.attributes}}
    )
    columns = {name: so.keys(list(values)) for name, values in PLACE.attributes.items()}
    data = so.dataset("people", table, unit=so.ROW, columns={**columns, "block": so.column(kind="text")})
    tables = so.publish.hierarchy(so.account(data, so.budget(rho=1)), TREE, queries=QUERIES).run(rho=str(RHO))
    facts = []
    for query in QUERIES:
        rows = getattr(tables, kind)("block", query).slice(0, tables.unbiased("block", query).num_rows // 2).to_pylist()
        names = [name for name in PLACE.attributes if rows and name in rows[0]]
        noise = float(tables.widths(1, tables.columns_of(query), 0.6827)[0])
        value = {"whole": "count", "unbiased": "estimate"}[kind]
        if not names:
            facts.append(Fact(count=max(round(rows[0][value]), 0)))
            continue
        said = {tuple(row[name] for name in names): row[value] for row in rows}
        facts += counts_by(PLACE, names, said, noise=noise)
    return facts


def test_raw_tables_give_everybody_away_and_ours_nobody_for_certain() -> None:
    dice = np.random.default_rng(1)
    people = block(8, dice)
    exact = so.audit.reconstruct_census(raw(people), PLACE, truth=people)
    assert exact.certain.sum() == 8
    assert exact.correct == 1.0
    for kind in ("whole", "unbiased"):
        ours = so.audit.reconstruct_census(released(people, kind), PLACE, truth=people)
        assert ours.certain.sum() == 0
        assert ours.correct < 1.0


@pytest.mark.slow
def test_a_person_is_named_no_more_often_than_the_price_allows() -> None:
    epsilon = 1.5
    delta = zcdp.delta(Concentrated(Fraction(RHO)), epsilon)
    trials, dice = 60, np.random.default_rng(2)
    counted = {"inside": 0, "outside": 0}
    for _ in range(trials):
        people = block(8, dice)
        at = PLACE.cells.index(people[0])
        counted["inside"] += bool(so.audit.reconstruct_census(released(people, "whole"), PLACE).histogram[at])
        counted["outside"] += bool(so.audit.reconstruct_census(released(people[1:], "whole"), PLACE).histogram[at])
    contrast = Contrast.claiming(
        Rate(counted["inside"], trials), Rate(counted["outside"], trials), epsilon=epsilon, delta=delta
    )
    assert not contrast.exceeds(), counted
    assert 0 < counted["inside"] < trials
