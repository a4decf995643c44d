"""Sums leave the engines exactly, and engines fail in silence."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from hashlib import md5

import ibis
import numpy as np
import pyarrow as pa
import pytest

from query.engines import Engine
from sordino.errors import RunError
from sordino.query.engine.hashing import keyed_hash, keyed_number
from sordino.query.engine.statement import fetch, salt_on
from sordino.query.engine.whole_numbers import as_whole, whole_numbers, whole_sum

WHOLE = pa.decimal128(38, 0)


def decimals(*chunks: list[int | None]) -> pa.ChunkedArray:
    return pa.chunked_array(
        [pa.array([None if value is None else Decimal(value) for value in chunk], WHOLE) for chunk in chunks], WHOLE
    )


def test_what_fits_into_64_bits_is_int64() -> None:
    found = whole_numbers(decimals([0, -1, None], [2**63 - 1, -(2**63)]))
    assert found.dtype == np.int64
    assert found.tolist() == [0, -1, 0, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**64, 2**120 + 3, -(2**120) - 3])
def test_what_does_not_is_python_ints(value: int) -> None:
    found = whole_numbers(decimals([7, value, None, -1]))
    assert found.dtype == object
    assert found.tolist() == [7, value, 0, -1]


def test_slices_and_emptiness() -> None:
    assert whole_numbers(decimals([1, 2, 3], [4]).slice(1, 2)).tolist() == [2, 3]
    assert whole_numbers(decimals([])).tolist() == []
    assert whole_numbers(pa.chunked_array([], WHOLE)).tolist() == []


def test_a_million_groups() -> None:
    numbers = np.arange(-500_000, 500_000, dtype=np.int64) * 2**40
    assert (whole_numbers(pa.chunked_array([pa.array(numbers).cast(WHOLE)])) == numbers).all()


def test_sums_of_extreme_integers_are_exact(engine: Engine) -> None:
    table = engine.load("extremes", pa.table({"n": pa.array([2**63 - 1] * 5 + [-(2**63)] * 2 + [None], pa.int64())}))
    total = table.aggregate(total=as_whole(whole_sum(table.get_backend().name, table.n)))
    assert whole_numbers(fetch(total)["total"]).tolist() == [5 * (2**63 - 1) - 2 * 2**63]


def test_an_engines_failure_says_nothing(engine: Engine) -> None:
    """A cast that fails prints the cell on every engine; neither the error nor anything behind it may."""
    table = engine.load("secrets", pa.table({"word": ["canary-4711"]}))
    with pytest.raises(RunError) as caught:
        fetch(table.select(number=table.word.cast("int64")))
    assert caught.value.code == "SRD-R001"
    assert "canary" not in f"{caught.value}{caught.value.__cause__}{caught.value.__context__}"
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert len(fetch(table)) == 1


@pytest.mark.parametrize("name", ["the engine's own", "another engine's"])
def test_hashes_depend_on_the_salt_and_on_every_column(engine: Engine, name: str) -> None:
    table = engine.load("hashed", pa.table({"a": [1, 1, 2, None], "b": ["x", "y", "x", "x"]}))
    own = table.get_backend().name if name == "the engine's own" else "unheard of"
    columns = {f"h{salt}": keyed_hash(own, salt_on("unheard of", salt), [table.a, table.b]) for salt in (1, 2, 2**70)}
    found = fetch(table.select(**columns)).to_pydict()
    assert len({value for values in found.values() for value in values}) == 12
    assert fetch(table.select(**columns)).to_pydict() == found
    assert isinstance(columns["h1"], ibis.Value)


@pytest.mark.parametrize("name", ["the engine's own", "another engine's"])
def test_keyed_numbers_are_whole_and_of_sixty_bits(engine: Engine, name: str) -> None:
    table = engine.load("numbered", pa.table({"a": list(range(200))}))
    own = table.get_backend().name if name == "the engine's own" else "unheard of"
    numbers = fetch(table.select("a", u=keyed_number(own, salt_on("unheard of", 5), table.a))).to_pydict()
    assert len(set(numbers["u"])) == 200
    assert 0 <= min(numbers["u"]) < 2**55 < 2**59 < max(numbers["u"]) < 2**60
    if own == "unheard of":
        expected = {a: int(md5(f"5|{a}".encode(), usedforsecurity=False).hexdigest()[:15], 16) for a in range(200)}
        assert dict(zip(numbers["a"], numbers["u"], strict=True)) == expected


LOADED = """
import sys, duckdb, pyarrow as pa
from sordino.query.engine.whole_numbers import small_numbers, whole_numbers
connection = duckdb.connect()
for where in ("TRUE", "i > 10", "i % 2 = 0"):
    table = connection.sql(
        "SELECT CASE WHEN {} THEN i END::BIGINT AS n, sum(CASE WHEN {} THEN i END)::DECIMAL(38, 0) AS d "
        "FROM range(5) AS given(i) GROUP BY i ORDER BY i".format(where, where)
    ).to_arrow_table()
    none = connection.sql("SELECT * FROM (SELECT 1::BIGINT AS n, 1::DECIMAL(38, 0) AS d) WHERE n > 1").to_arrow_table()
    for rows in (table, none):
        print(small_numbers(rows["n"]).tolist(), whole_numbers(rows["d"]).tolist())
print("pandas" in sys.modules)
"""


def test_no_result_loads_pandas() -> None:
    """Else the first question without an answer, or with a missing one, would take half a second longer."""
    said = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout  # noqa: S603
    assert said.splitlines() == [
        "[0, 1, 2, 3, 4] [0, 1, 2, 3, 4]",
        "[] []",
        "[0, 0, 0, 0, 0] [0, 0, 0, 0, 0]",
        "[] []",
        "[0, 0, 2, 0, 4] [0, 0, 2, 0, 4]",
        "[] []",
        "False",
    ]
