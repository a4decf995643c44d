"""Questions that were written so that the engine fails if and only if one person is in the data: it must never."""

# ruff: noqa: S608  (the texts are ours)

from __future__ import annotations

from typing import Any

import ibis
import pyarrow as pa
import pytest

import sordino as so
from query.engines import Engine

HERE, GONE = [(1, 0), (2, 0), (17, 1)], [(1, 0), (2, 0)]
THEY_ARE_ILL = "person = 17 AND ill = 1"


def doubling(times: int) -> str:
    """A text that is sixteen times as long after each step, if one person is ill."""
    inner = f"(SELECT person, CASE WHEN {THEY_ARE_ILL} THEN 'aaaaaaaaaaaaaaaa' ELSE '' END AS c FROM people) AS t"
    for step in range(times):
        longer = " || ".join(["c"] * 16)
        inner = f"(SELECT person, MAX({longer}) AS c FROM {inner} GROUP BY person) AS t{step}"
    return f"SELECT COUNT(*) AS n FROM {inner} WHERE LENGTH(c) > 3"


QUESTIONS = (
    f"SELECT COUNT(*) AS n FROM people WHERE POWER(1.5, CASE WHEN {THEY_ARE_ILL} THEN 5e-324 ELSE 1 END) > 0",
    f"SELECT COUNT(*) AS n FROM people WHERE POWER(1e-300, CASE WHEN {THEY_ARE_ILL} THEN 1e-310 ELSE 1 END) > 0",
    f"SELECT COUNT(*) AS n FROM people WHERE EXP(CASE WHEN {THEY_ARE_ILL} THEN 1e140 ELSE 1 END) * 1e140 > 0",
    f"SELECT SUM(1 / CASE WHEN {THEY_ARE_ILL} THEN 0 ELSE 1 END) AS n FROM people WHERE ill < 5",
    doubling(7),
)


@pytest.mark.parametrize("question", QUESTIONS, ids=["tiny", "tinier", "huge", "zero", "long"])
def test_no_question_fails_because_of_one_person(engine: Engine, question: str) -> None:
    for rows in (HERE, GONE):
        table = pa.table({"person": [person for person, _ in rows], "ill": [ill for _, ill in rows]})
        data = so.dataset("people", engine.load("people", table), unit="person", limits=so.limits(rows=1))
        ask = so.account(data, so.unlimited("a test")).sql(question)
        assert len(ask.run(epsilon=1)) == 1


@pytest.mark.parametrize("unit", [so.ROW, "person"], ids=["row", "person"])
@pytest.mark.parametrize("other", ["CORR(x, y)", "REGRESSION(y, x)", "COUNT(DISTINCT n), COVAR_POP(x, y)"])
def test_no_question_fails_because_nobody_is_there(unit: Any, other: str) -> None:
    """Sums of nothing are multiplied by coefficients that a machine's integers do not hold."""
    table = pa.table({"person": [1, 2], "x": [0.5, 2.0], "y": [1.5, 1.0], "n": [1, 2]})
    data = so.dataset(
        "people",
        table if unit == "person" else table.drop("person"),
        unit=unit,
        columns={"x": so.bounds(-1, 4), "y": so.bounds(0, 3)},
        limits=so.limits(rows=2) if unit == "person" else None,
    )
    budget = so.account(data, so.unlimited("a test"))
    for condition in ("n = 1", "n = 3"):
        assert len(budget.sql(f"SELECT VARIANCE(y), {other} FROM people WHERE {condition}").run(epsilon=1)) == 1


def joined(times: int) -> str:
    """One person's row, times all rows of a public table, again and again."""
    more = " ".join(f"JOIN tags t{place} ON p.tag = t{place}.tag" for place in range(times))
    return f"SELECT COUNT(*) AS n FROM people p {more} WHERE p.{THEY_ARE_ILL}"


def self_joined(times: int) -> str:
    many = " UNION ALL ".join([f"SELECT person, tag FROM people WHERE {THEY_ARE_ILL}"] * 10)
    more = " ".join(f"JOIN many m{place} ON m.person = m{place}.person" for place in range(times))
    return f"WITH many AS ({many}) SELECT COUNT(*) AS n FROM many m {more}"


@pytest.mark.parametrize("question", [joined(5), self_joined(8)], ids=["public", "private"])
def test_joins_do_not_multiply_one_person_beyond_measure(question: str) -> None:
    """Under a small memory limit the question is answered with and without the person whom it is about."""
    for rows in (HERE, GONE):
        backend = ibis.duckdb.connect(memory_limit="300MB", threads=1)
        people = pa.table({"person": [row[0] for row in rows], "ill": [row[1] for row in rows], "tag": [1] * len(rows)})
        data = so.dataset(
            "people",
            {
                "people": so.private(backend.create_table("people", people), unit="person", limits=so.limits(rows=1)),
                "tags": so.public(backend.create_table("tags", pa.table({"tag": [1] * 200, "x": [0.5] * 200}))),
            },
            unit="person",
        )
        ask = so.account(data, so.unlimited("a test")).sql(question)
        assert len(ask.run(epsilon=1)) == 1
