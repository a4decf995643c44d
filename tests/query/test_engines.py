"""The engines of the tests themselves: what is loaded is what is read."""

from __future__ import annotations

from datetime import date, datetime

import pyarrow as pa

from query.engines import Engine

TABLE = pa.table(
    {
        "id": pa.array([1, 2, None], pa.int64()),
        "x": pa.array([0.5, 1e300, None]),
        "name": pa.array(["Åse", 'tab\t"quote\\', None]),
        "member": pa.array([True, False, None]),
        "born": pa.array([date(1970, 1, 1), date(2024, 2, 29), None]),
        "seen": pa.array([datetime(2024, 2, 29, 12, 30, 1), datetime(1969, 12, 31, 23), None], pa.timestamp("us")),
    }
)


def test_what_is_loaded_comes_back(engine: Engine) -> None:
    table = engine.load("things", TABLE)
    back = table.order_by("id").to_pyarrow().cast(TABLE.schema)
    assert str(back.to_pylist()) == str(TABLE.to_pylist())


def test_frames_load_too_and_names_never_clash(engine: Engine) -> None:
    first, second = (engine.load("frame", TABLE.select(["id"]).slice(0, 2).to_pandas()) for _ in range(2))
    assert first.get_name() != second.get_name()
    assert first.count().to_pyarrow().as_py() == 2


def test_numbers_that_are_none_arrive_as_such(engine: Engine) -> None:
    table = engine.load("numbers", pa.table({"x": [float("nan"), float("inf"), None, 1.0]}))
    # Ibis on Spark calls NaN missing and nothing infinite, so it is asked in other words.
    found = table.aggregate(
        present=table.x.count(), nan=table.x.isnan().sum(), infinite=(table.x == float("inf")).sum()
    )
    assert found.to_pyarrow().to_pylist() == [{"present": 3, "nan": 1, "infinite": 1}]
