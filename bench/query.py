"""The time of queries, beside the plain engine and beside the peers."""

from __future__ import annotations

import query_data
from measure import Call, Case, at_most_seconds, at_most_times
from query_bars import beside_plain, grows

NOTES = """\
*Time.* The plain engine is the same DuckDB without any privacy, on the same Parquet file. Where one row is protected,
it runs the same GROUP BY; where one person is, it groups by person and city, and its ten million groups are fetched as
Arrow or summed up by an outer query. *Warm*: the same question again, whose translation for the engine is remembered,
and questions that were never asked before. *The whole process* is `python -c` from nothing to the printed answer;
bytecode is there already, as it is of whatever is installed.
"""
"""What the page of documentation says above this room's table."""

ROWS, PEOPLE = 10**7, 10**6
CITIES = [f"city {number:03d}" for number in range(200)]
MEMORY, MEMORY_GIB = "8GB", 8e9 / 2**30


def cases() -> list[Case]:
    """Return the cases of this room."""
    return [*_by_city(), *_by_person(), *_overhead(), *_large()]


def tidy() -> None:
    """Remove the data, a gigabyte or so."""
    query_data.tidy()


# ---- time -----------------------------------------------------------------------------------------------------------


def _by_city() -> list[Case]:
    path = str(query_data.trips(ROWS, PEOPLE))
    ours = Call("sordino_query", "by_city", {"path": path, "cities": CITIES})
    theirs = Call("duckdb", "by_city", {"path": path})
    return [Case("one row protected: count and mean by city, 10⁷ rows", ours, theirs, beside_plain(1.5, 0.06))]


def _by_person() -> list[Case]:
    path = str(query_data.trips(ROWS, PEOPLE))
    found = []
    for method, words, limit in (("sample", "sampling rows", 1.3), ("weigh", "weights", 0.6)):
        ours = Call("sordino_query", "by_person", {"path": path, "cities": CITIES, "method": method})
        for end in ("to Arrow", "summed up"):
            theirs = Call("duckdb", "by_person", {"path": path, "end": end})
            what = f"one of 10⁶ people protected, by {words}; plain GROUP BY user, city {end}"
            found.append(Case(what, ours, theirs, at_most_times(limit), repeats=5))
    return found


def _overhead() -> list[Case]:
    task = query_data.task(people=8_000)
    small = {name: task[name] for name in ("path", "cities")}
    found = []
    for question in ("the same question", "another number in it", "another condition", "other aggregates"):
        ours = Call("sordino_query", "small", small | {"question": question})
        found.append(Case(f"20,000 rows, warm, {question}", ours, None, at_most_seconds(0.06), repeats=5))
    ten = Call("sordino_query", "ten_lines", small)
    found.append(
        Case("ten lines and their ledger, the whole process", ten, None, at_most_seconds(1.2), repeats=5, fresh=True)
    )
    found.append(
        Case(
            "import sordino", Call("sordino_query", "imported", {}), None, at_most_seconds(0.15), repeats=5, fresh=True
        )
    )
    for peer in ("smartnoise", "pipelinedp", "opendp", "tumult"):
        repeats = 1 if peer == "tumult" else 3
        ours, theirs = Call("sordino_query", "cold", small), Call(peer, "cold", task)
        found.append(
            Case("20,000 rows, the whole process", ours, theirs, at_most_seconds(1.2), repeats=repeats, fresh=True)
        )
    return found


def _large() -> list[Case]:
    found = []
    for method, words in (("sample", "sampling rows"), ("weigh", "weights")):
        large, small = (
            {"path": str(query_data.trips(rows, people)), "cities": CITIES, "method": method, "memory": MEMORY}
            for rows, people in ((10 * ROWS, 10 * PEOPLE), (ROWS, PEOPLE))
        )
        ours, theirs = (Call("sordino_query", "by_person", size) for size in (large, small))
        what = f"one of 10⁷ people protected in 10⁸ rows, by {words}; against 10⁶ in 10⁷"
        found.append(Case(what, ours, theirs, grows(15, MEMORY_GIB, 4), repeats=3, fresh=True))
    return found
