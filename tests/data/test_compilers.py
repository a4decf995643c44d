"""Ibis with one compiler is Ibis: whoever asks for another engine, or for all of them, finds it as Ibis made it."""

from __future__ import annotations

import subprocess
import sys

OTHERS = "[name for name in sys.modules if name.startswith('ibis.backends.sql.compilers.')]"


def run(text: str) -> str:
    """Return what a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_only_what_is_used_is_loaded() -> None:
    loaded = run(f"import sys, sordino.data.local as local\nlocal.connect()\nprint(*sorted({OTHERS}))").split()
    assert {each.rpartition(".")[2] for each in loaded} == {"_compat", "base", "duckdb"}


def test_whoever_asks_for_all_finds_all() -> None:
    text = """
import sordino.data.local as local
first = local.connect()
import ibis, ibis.backends.sql.compilers as package
assert all(isinstance(getattr(package, name), type) for name in package.__all__), "names"
assert type(package.postgres.compiler) is package.PostgresCompiler
from ibis.backends.sql.compilers import SQLiteCompiler, DuckDBCompiler
assert type(first.compiler) is DuckDBCompiler
assert ibis.duckdb.connect().raw_sql("SELECT 1").fetchall() == [(1,)]
table = ibis.table({"x": "int64"}, name="t")
engines = ("duckdb", "postgres", "pyspark", "bigquery")
print(*(ibis.to_sql(table.x.sum(), dialect=name).count("SUM") for name in engines))
"""
    assert run(text) == "1 1 1 1"


def test_ibis_that_was_there_before_stays() -> None:
    text = """
import ibis
ibis.duckdb.connect()
import ibis.backends.sql.compilers as before
import sordino.data.local as local
local.connect()
import ibis.backends.sql.compilers as after
print(before is after, type(after).__name__)
"""
    assert run(text) == "True module"


def test_garbage_is_collected_again_after_an_import() -> None:
    text = "import gc, sordino as so\n{0}so.dataset\nprint(gc.isenabled())"
    assert run(text.format("")) == "True"
    assert run(text.format("gc.disable()\n")) == "False"
