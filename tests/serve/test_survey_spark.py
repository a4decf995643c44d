"""Spark counts what DuckDB counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sordino as so
from collect.surveys import bodies, pets
from query.engines import Engine


@pytest.mark.slow
def test_spark_counts_the_same_integers(spark_engine: Engine, tmp_path: Path) -> None:
    with so.open(tmp_path / "budget.db") as house:
        session = spark_engine.backend._session
        for way in ("k-ary", "unary", "hashing", "subset"):
            poll = pets(name=way.replace("-", "_"), way=way)
            running = house.collect(poll)
            running.take(list(map(bytes, bodies(poll, np.arange(5000) % 3))))
            closed = running.close()
            found = house.collected(poll, spark=session)
            assert found.reports == closed.reports == 5000
            assert (found.counts == closed.counts).all()
