"""sordino's queries, in the environment that runs the benchmark."""

from __future__ import annotations

import resource
from importlib.metadata import version
from time import perf_counter
from typing import Any

import duckdb
import ibis

import sordino as so

from .cold import whole_process
from .scores import median_scores, root_mean_square, visits_scores

Timing = tuple[float, int, dict[str, Any]]

BY_CITY = "SELECT city, COUNT(*) AS n, AVG(fare) AS fare FROM trips GROUP BY city"
VISITS = "SELECT city, COUNT(*) AS n, AVG(fare) AS fare FROM visits GROUP BY city"
FARE = so.bounds(0, 100, nullable=False)


def versions() -> dict[str, str]:
    return {"sordino": version("sordino"), "duckdb": duckdb.__version__, "ibis": ibis.__version__}


def _budget(dataset: Any) -> Any:
    return so.account(dataset, so.unlimited("a benchmark"))


# ---- time -----------------------------------------------------------------------------------------------------------


def by_city(path: str, cities: list[str]) -> Timing:
    """From the text to the answer, one row protected."""
    trips = so.dataset("trips", path, unit=so.ROW, columns={"fare": FARE, "city": so.keys(cities)})
    budget = _budget(trips)
    started = perf_counter()
    budget.sql(BY_CITY).run(epsilon=1)
    return perf_counter() - started, 1, {}


def by_person(path: str, cities: list[str], method: str, memory: str | None = None) -> Timing:
    """From the text to the answer, one person protected, of whom three rows count."""
    table: Any = path
    if memory is not None:
        table = ibis.duckdb.connect(memory_limit=memory).read_parquet(path)
    columns = {"fare": FARE, "city": so.keys(cities)}
    trips = so.dataset("trips", table, unit="user", columns=columns, limits=so.limits(rows=3))
    budget = _budget(trips)
    started = perf_counter()
    budget.sql(BY_CITY).run(epsilon=1, bounding=so.bounding(method, rows=3))
    seconds = perf_counter() - started
    return seconds, 1, {"peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


CONDITIONS = """
fare >= 0; fare > 1; fare <= 99; fare < 98; fare <> 3; fare BETWEEN 1 AND 90; fare IS NOT NULL; NOT fare < 2;
fare >= 1 AND fare <= 90; fare > 5 OR fare < 4; fare + 1 > 2; fare * 2 > 3; ABS(fare) >= 1; SQRT(fare) > 1;
COALESCE(fare, 0) >= 1; city <> 'x'; city LIKE 'c%'; LENGTH(city) > 1; UPPER(city) <> 'X'; city IN ('a', 'b');
FLOOR(fare) > 1
""".replace("\n", " ").split(";")
AGGREGATES = """
COUNT(*), AVG(fare); COUNT(*); SUM(fare); AVG(fare); COUNT(fare); VARIANCE(fare); STDDEV(fare); COUNT(*), SUM(fare);
AVG(fare), VARIANCE(fare); SUM(fare + 1); AVG(2 * fare); AVG(SQRT(fare)); COUNT(DISTINCT user); SUM(LEAST(fare, 9));
MEDIAN(fare); MAX(fare); MIN(fare); QUANTILE(fare, 0.9); SUM(ABS(fare - 5)); AVG(CASE WHEN fare > 5 THEN 1 ELSE 0 END);
SUM(FLOOR(fare)), COUNT(*)
""".replace("\n", " ").split(";")


def _where(condition: str) -> str:
    return VISITS.replace("GROUP BY", f"WHERE {condition} GROUP BY")


SMALL = {
    "the same question": [_where("fare >= 0")] * 21,
    "another number in it": [_where(f"fare >= {number}") for number in range(21)],
    "another condition": [_where(condition) for condition in CONDITIONS],
    "other aggregates": [f"SELECT city, {each} FROM visits GROUP BY city" for each in AGGREGATES],  # noqa: S608
}


def small(path: str, cities: list[str], question: str) -> Timing:
    """From the text to the answer: the same text again and again, or another one every time."""
    budget = _budget(_visits(path, cities))
    texts = SMALL[question]
    budget.sql(texts[0]).run(epsilon=1)
    started = perf_counter()
    for text in texts[1:]:
        budget.sql(text).run(epsilon=1)
    return perf_counter() - started, len(texts) - 1, {}


COLD = """
import sordino as so
visits = so.dataset("visits", {path!r}, unit="user", limits=so.limits(rows=3),
                    columns={{"fare": so.bounds(0, 100, nullable=False), "city": so.keys({cities!r})}})
budget = so.account(visits, so.budget(epsilon=1))
print(budget.sql({query!r}).run(epsilon=1))
"""


TEN_LINES = """
import os, tempfile
import sordino as so

trips = so.dataset(
    "visits", {path!r}, unit="user",
    columns={{"fare": so.bounds(0, 100), "city": so.keys({cities!r})}}, limits=so.limits(rows=10),
)
with tempfile.TemporaryDirectory() as place, so.open(os.path.join(place, "budget.db")) as house:
    budget = house.account(trips, so.budget(epsilon=3, delta=1e-9))
    ask = budget.sql({query!r})
    print(ask.price(epsilon=0.5))
    print(ask.run(epsilon=0.5))
"""


def ten_lines(path: str, cities: list[str]) -> Timing:
    """The ten lines of the README, with a ledger that is made on the way."""
    return whole_process(TEN_LINES.format(path=_parquet(path), cities=cities, query=VISITS))


def imported() -> Timing:
    return whole_process("import sordino")


def cold(path: str, cities: list[str]) -> Timing:
    return whole_process(COLD.format(path=_parquet(path), cities=cities, query=VISITS))


# ---- error ----------------------------------------------------------------------------------------------------------


def visits(
    path: str, cities: list[str], counts: list[float], means: list[float], epsilon: float, rows: int, repetitions: int
) -> Timing:
    """Errors of counts and means, and how often the intervals hold the truth."""
    asked = _budget(_visits(path, cities, rows)).sql(VISITS)
    answers, inside = [], {"n": 0, "fare": 0}
    started = perf_counter()
    for _ in range(repetitions):
        answer = asked.run(epsilon=epsilon)
        found = answer.to_arrow().to_pydict()
        answers.append((found["n"], found["fare"]))
        for name, truth in (("n", counts), ("fare", means)):
            low, high = answer.interval(name)
            inside[name] += sum(a <= true <= b for a, true, b in zip(low, truth, high, strict=True))
    seconds = perf_counter() - started
    scores = visits_scores(answers, counts, means)
    covered = {"count_covered": inside["n"] / scores["samples"], "mean_covered": inside["fare"] / scores["samples"]}
    return seconds, repetitions, scores | covered


MEDIANS = "SELECT copy, MEDIAN(value) AS middle FROM numbers GROUP BY copy"


def medians(settings: list[dict[str, Any]], repetitions: int, intervals: bool) -> Timing:
    """One query finds the medians of as many groups as there are repetitions; every group holds the same values."""
    found = {}
    started = perf_counter()
    for setting in settings:
        places = duckdb.sql("SELECT range AS copy FROM range(?)", params=[repetitions])
        copies = duckdb.read_parquet(_parquet(setting["path"])).cross(places).to_arrow_table()
        columns = {"value": FARE, "copy": so.keys(list(range(repetitions)))}
        table = so.dataset("numbers", copies, unit=so.ROW, columns=columns)
        answer = _budget(table).sql(MEDIANS).run(epsilon=setting["epsilon"], intervals=intervals)
        found[setting["name"]] = [float(middle) for middle in answer["middle"]]
    seconds = perf_counter() - started
    truth = {setting["name"]: setting["median"] for setting in settings}
    return seconds, repetitions * len(settings), median_scores(found, truth)


def private_keys(path: str, truth: dict[str, int], epsilon: float, delta: float, each: int, repetitions: int) -> Timing:
    asked = _words(path, each).sql("SELECT word, COUNT(DISTINCT user) AS people FROM words GROUP BY word")
    kept, errors = 0, []
    started = perf_counter()
    for _ in range(repetitions):
        found = asked.run(epsilon=epsilon, delta=delta).to_arrow().to_pydict()
        kept += len(found["word"])
        errors += [people - truth[word] for word, people in zip(found["word"], found["people"], strict=True)]
    seconds = perf_counter() - started
    return seconds, repetitions, {"kept": kept / repetitions, "count": root_mean_square(errors)}


def _words(path: str, each: int) -> Any:
    limits = so.limits(rows=each, groups=each, rows_per_group=1)
    return _budget(so.dataset("words", _parquet(path), unit="user", limits=limits))


def _visits(path: str, cities: list[str], rows: int = 3) -> Any:
    columns = {"fare": FARE, "city": so.keys(cities)}
    return so.dataset("visits", _parquet(path), unit="user", columns=columns, limits=so.limits(rows=rows))


def _parquet(path: str) -> str:
    return path.removesuffix(".csv") + ".parquet"
