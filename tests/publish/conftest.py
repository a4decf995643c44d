"""The engines of the room of questions, for publications over them."""

from __future__ import annotations

from query.conftest import duckdb_engine, engine, postgres_engine, spark_engine

__all__ = ["duckdb_engine", "engine", "postgres_engine", "spark_engine"]
