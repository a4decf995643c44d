"""Texts that an engine takes for equal would give one row several keys: such databases are refused."""

from __future__ import annotations

import ibis
import psycopg
import pytest

import sordino as so
from query import engines
from sordino.errors import QuestionError

KEYS = {"city": so.keys(["Oslo", "oslo"])}


@pytest.mark.parametrize("set_up", ["CREATE TABLE t (city VARCHAR COLLATE NOCASE)", "SET default_collation = 'nocase'"])
def test_duckdb_that_ignores_case_is_refused(set_up: str) -> None:
    backend = ibis.duckdb.connect()
    backend.raw_sql(set_up)
    backend.raw_sql("CREATE TABLE plain (city VARCHAR)")
    with pytest.raises(QuestionError, match="SRD-Q205"):
        so.dataset("plain", backend.table("plain"), unit=so.ROW, columns=KEYS)


def test_postgres_that_ignores_case_is_refused(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE odd")  # of its own: no table beside such a collation is taken
    with engines.postgres_engine(f"{postgres_url.rpartition('/')[0]}/odd") as engine:
        engine.backend.raw_sql(
            "CREATE COLLATION odd (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        engine.backend.raw_sql("CREATE TABLE t (city text COLLATE odd)")
        with pytest.raises(QuestionError, match="SRD-Q205"):
            so.dataset("t", engine.backend.table("t"), unit=so.ROW, columns=KEYS)


def test_spark_that_ignores_case_is_refused(spark_engine: engines.Engine) -> None:
    spark_engine.backend.raw_sql("CREATE OR REPLACE TEMP VIEW odd AS SELECT 'Oslo' COLLATE UTF8_LCASE AS city")
    with pytest.raises(QuestionError, match=r"SRD-Q205|SRD-Q202"):
        so.dataset("odd", spark_engine.backend.table("odd"), unit=so.ROW, columns=KEYS)
