"""Queries: time beside the plain engine, error beside OpenDP, SmartNoise, Tumult, PipelineDP and diffprivlib."""

from __future__ import annotations

from typing import Any

import query_data
from measure import Call, Case, at_most_seconds, at_most_times
from query_bars import beside_plain, covers, errors_at_most, grows, keeps_at_least, medians_at_most

NOTES = """\
*Time.* The plain engine is the same DuckDB without any privacy, on the same Parquet file. Where one row is protected,
it runs the same GROUP BY; where one person is, it groups by person and city, and its ten million groups are fetched as
Arrow or summed up by an outer query. *Warm*: the same question again, whose translation for the engine is remembered,
and questions that were never asked before. *The whole process* is `python -c` from nothing to the printed answer;
bytecode is there already, as it is of whatever is installed.

*Error.* Visits: 20,000 rows, five public cities, count and mean fare, one person protected, three of whose rows count
at most, ε = 1 in total for the whole query. Each peer is used as an expert would: fares centred where it does not do so
itself, count and sum asked for once and divided by hand where it would pay for the count twice, ε divided in halves.
Figures are root mean square errors over all cities and repetitions, ours : theirs = ratio; times are for one release.
Tumult answers a hundred such tasks in one query. Where three visits of five are kept, every side counts two fifths too
few, so only the means differ. Medians: 1,000 numbers from 0 to 100 of three shapes, ε = 0.1 and 1, one row protected;
OpenDP chooses among 1,001 evenly spread candidates; Tumult and sordino find all repetitions in one query, by groups.
Peers buy no interval. Ours takes three tenths of ε, so it is shown with and without. Private keys: words by Zipf's law,
100,000 people; PipelineDP's truncated geometric selection beside its count, and its threshold on the noisy count
itself, which is our way as well, by noise without tails. Errors are those of the keys that each side shows.
"""
"""What the page of documentation says above this room's table."""

ROWS, PEOPLE = 10**7, 10**6
CITIES = [f"city {number:03d}" for number in range(200)]
MEMORY, MEMORY_GIB = "8GB", 8e9 / 2**30
EPSILON, KEPT_ROWS = 1.0, 3

OUR_REPETITIONS = 1_500
PEER_REPETITIONS = {"opendp": 2_000, "smartnoise": 1_000, "pipelinedp": 1_000}
"""Enough that a ratio is known to about two percent: each repetition gives five counts and five means."""
TUMULT_COPIES, TUMULT_REPETITIONS = 100, 8
"""Tumult takes about ten seconds for every query, so it answers a hundred tasks side by side in each."""

MEDIANS_OF_OURS = 1_000
MEDIANS_OF_PEERS = {"opendp": 1_000, "diffprivlib": 1_000, "tumult": 200}
"""For each of six settings: the mean ratio is known to about two percent, beside Tumult four."""


def cases() -> list[Case]:
    """Return the cases of this room."""
    return [*_by_city(), *_by_person(), *_overhead(), *_visits(), *_medians(), *_private_keys(), *_large()]


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
    task = _task(people=8_000)
    small = {name: task[name] for name in ("path", "cities")}
    found = []
    for question in ("the same", "another"):
        ours = Call("sordino_query", "small", small | {"question": question})
        found.append(Case(f"20,000 rows, warm, {question} question", ours, None, at_most_seconds(0.06), repeats=5))
    for peer in ("smartnoise", "pipelinedp", "opendp", "tumult"):
        repeats = 1 if peer == "tumult" else 3
        ours, theirs = Call("sordino_query", "cold", small), Call(peer, "cold", task)
        found.append(
            Case("20,000 rows, the whole process", ours, theirs, at_most_seconds(2), repeats=repeats, fresh=True)
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
        found.append(Case(what, ours, theirs, grows(15, MEMORY_GIB, 4), repeats=1, fresh=True))
    return found


# ---- error ----------------------------------------------------------------------------------------------------------


def _task(people: int, copies: int = 1) -> dict[str, Any]:
    table = query_data.visits(people, copies=copies)
    truth = {"cities": list(table.cities), "counts": list(table.counts), "means": list(table.means)}
    return {"path": str(table.path), "epsilon": EPSILON, "rows": KEPT_ROWS, **truth}


def _visits() -> list[Case]:
    """At most three visits each, so that nothing is cut; then five each, of which every side keeps three."""
    nothing_cut = Call("sordino_query", "visits", _task(8_000) | {"repetitions": OUR_REPETITIONS})
    found = [_visits_against(peer, 8_000, 1.0, "nothing cut") for peer in (*PEER_REPETITIONS, "tumult")]
    found.append(Case("visits, 95 % intervals", nothing_cut, None, covers(0.94), repeats=1, fresh=True))
    found += [_visits_against(peer, 4_000, 0.1, "three visits of five kept") for peer in PEER_REPETITIONS]
    return found


def _visits_against(peer: str, people: int, share: float, words: str) -> Case:
    """`share`: how many of the usual repetitions."""
    if peer == "tumult":
        theirs = _task(people, TUMULT_COPIES) | {"repetitions": TUMULT_REPETITIONS}
    else:
        theirs = _task(people) | {"repetitions": int(PEER_REPETITIONS[peer] * share)}
    ours = _task(people) | {"repetitions": int(OUR_REPETITIONS * share)}
    bar = errors_at_most(0.75 if people == 8_000 else None)
    calls = Call("sordino_query", "visits", ours), Call(peer, "visits", theirs)
    return Case(f"visits, ε = 1, root mean square error: {words}", *calls, bar, repeats=1, fresh=True)


def _medians() -> list[Case]:
    settings = []
    for shape in query_data.SHAPES:
        for epsilon in (0.1, 1.0):
            table = query_data.values(shape, 1_000)
            name = f"{shape}, ε = {epsilon:g}"
            settings.append({"name": name, "path": str(table.path), "median": table.median, "epsilon": epsilon})
    found = [_medians_against(peer, settings, intervals=False) for peer in MEDIANS_OF_PEERS]
    return [*found, _medians_against("opendp", settings, intervals=True)]


def _medians_against(peer: str, settings: list[dict[str, Any]], *, intervals: bool) -> Case:
    """Peers buy no interval, so the bar is for those without."""
    ours = {"settings": settings, "repetitions": MEDIANS_OF_OURS, "intervals": intervals}
    theirs = {"settings": settings, "repetitions": MEDIANS_OF_PEERS[peer]}
    words = "with intervals, which the peer has not" if intervals else "without intervals"
    what = f"median of 1,000 rows, root mean square error, six settings: {words}"
    calls = Call("sordino_query", "medians", ours), Call(peer, "medians", theirs)
    return Case(what, *calls, medians_at_most(None if intervals else 1), repeats=1, fresh=True)


def _private_keys() -> list[Case]:
    found = []
    for strategy in ("TRUNCATED_GEOMETRIC", "LAPLACE_THRESHOLDING"):
        for each in (1, 4):
            table = query_data.words(100_000, each)
            asked = {"path": str(table.path), "truth": table.people, "epsilon": EPSILON, "delta": 1e-6, "each": each}
            ours = Call("sordino_query", "private_keys", asked | {"repetitions": 10})
            theirs = Call("pipelinedp", "private_keys", asked | {"strategy": strategy, "repetitions": 5})
            chosen = strategy.lower().replace("_", " ")
            what = f"private keys and counts, ε = 1, δ = 1e-6, at most {each} of a person; {chosen}"
            found.append(Case(what, ours, theirs, keeps_at_least(1), repeats=1, fresh=True))
    return found
