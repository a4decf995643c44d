"""Questions that were written so that the engine fails if and only if one person is in the data: it must never."""

# ruff: noqa: S608  (the texts are ours)

from __future__ import annotations

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
