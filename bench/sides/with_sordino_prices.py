"""sordino's prices and outcomes, recipe by recipe, on made-up data."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

import sordino as so
from sordino.publish.graphs.patterns import star_count, triangle_count
from sordino.publish.publication import Running

Timing = tuple[float, int, dict[str, Any]]
DICE = np.random.default_rng(17)
ROWS, CELLS, SIDE = 3000, 64, 16
AGE, CITY = np.minimum(DICE.gamma(4, 8, ROWS), 99.5), DICE.choice(4, ROWS, p=[0.55, 0.25, 0.15, 0.05])
LAT, LON = DICE.beta(2, 5, ROWS), DICE.beta(3, 3, ROWS)
DAY = DICE.integers(0, 42, ROWS)
FIRST = date(2026, 1, 5)
PEOPLE = pa.table(
    {
        "age": AGE,
        "city": CITY,
        "lat": LAT,
        "lon": LON,
        "day": pa.array([FIRST + timedelta(days=int(day)) for day in DAY], pa.date32()),
    }
)
COLUMNS = {"age": so.bounds(0, 100, nullable=False), "city": so.keys(range(4))}
ENDS = np.unique(np.sort(DICE.integers(0, 300, (4000, 2)), 1), axis=0)
ENDS = ENDS[ENDS[:, 0] < ENDS[:, 1]]
GENOTYPES = DICE.binomial(2, 0.3, (200, 400))
CASES = GENOTYPES[:, :5].sum(axis=1) + DICE.normal(0, 0.5, 200) > 3


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"sordino": version("sordino"), "numpy": np.__version__}


def outcome(name: str) -> Timing:
    """Return what is seen as a part of the price, or how often it is within."""
    started = perf_counter()
    found = OUTCOMES[name]()
    return perf_counter() - started, 1, found


def _table() -> Any:
    return so.account(so.dataset("people", PEOPLE, unit=so.ROW, columns=COLUMNS), so.unlimited("a benchmark"))


def _seen(asked: Any, line: str, off: Callable[[Any], Any], runs: int, **words: Any) -> tuple[Any, float]:
    """Return distances from the truth, run by run, and what the price says."""
    return [np.ravel(off(asked.run(**words))) for _ in range(runs)], asked.price(**words).error_of(line).amount


def _rms(*given: Any, **words: Any) -> dict[str, float]:
    seen, price = _seen(*given, **words)
    return {"ratio": float(np.sqrt(np.mean(np.concatenate(seen) ** 2))) / price, "runs": len(seen)}


def _width(*given: Any, **words: Any) -> dict[str, float]:
    seen, price = _seen(*given, **words)
    return {"ratio": float(np.quantile(np.abs(np.concatenate(seen)), 0.95)) / price, "runs": len(seen)}


def _bound(*given: Any, **words: Any) -> dict[str, float]:
    seen, price = _seen(*given, **words)
    return {"within": float(np.mean([np.abs(each).max() <= price for each in seen])), "runs": len(seen)}


def _ranges(kind: str, **words: Any) -> dict[str, float]:
    truth = np.histogram(AGE, CELLS, (0, 100))[0]

    def off(made: Any) -> Any:
        ends = np.concatenate([[0.0], np.cumsum(made.unbiased - truth)])
        return ends[1:] if kind == "prefixes" else (ends[None, :] - ends[:, None])[np.triu_indices(CELLS + 1, 1)]

    return _rms(so.publish.ranges(_table(), "age", cells=CELLS, workload=kind), kind, off, 300, **words)


def _marginals() -> dict[str, float]:
    truth = np.histogram2d(CITY, AGE, (4, 10), ((0, 4), (0, 100)))[0]
    asked = so.publish.marginals(_table(), ["city", "age"], cells={"age": 10})
    return _rms(asked, "marginals", lambda made: made.unbiased("city", "age") - truth, 300, rho="0.1")


def _map(method: str, line: str) -> Any:
    truth = np.histogram2d(LAT, LON, SIDE, ((0, 1), (0, 1)))[0]
    asked = so.publish.heat_map(_table(), "lat", "lon", box=(0, 0, 1, 1), cells=(SIDE, SIDE), method=method)
    if line == "total":
        return _bound(asked, line, lambda made: made.reading.unbiased.sum() - truth.sum(), 200, epsilon=1)
    return _width(asked, line, lambda made: made.reading.unbiased[made.reading.region] - truth.ravel(), 100, epsilon=1)


def _mobility(line: str) -> dict[str, float]:
    truth = np.zeros((4, 42))
    np.add.at(truth, (CITY, DAY), 1)
    weeks = {"days": ("2026-01-05", "2026-02-15"), "baseline": ("2026-01-05", "2026-02-01")}
    many = pa.concat_tables([PEOPLE] * 20)
    data = so.dataset("people", many, unit=so.ROW, columns=COLUMNS)
    asked = so.publish.mobility(so.account(data, so.unlimited("a benchmark")), region="city", day="day", **weeks)
    exact = truth * 20
    if line == "people":
        return _width(asked, line, lambda made: made.counts - exact, 100, epsilon=1)
    # The price of a change is said where so many people are usual, and nothing changed: that is made of its noise.
    usual = np.stack([exact[:, :28][:, np.arange(28) % 7 == day].mean(axis=1) for day in range(7)], axis=1)
    expected = usual[:, np.arange(28, 42) % 7]

    def off(made: Any) -> Any:
        counts = made.counts
        base = np.stack([counts[:, :28][:, np.arange(28) % 7 == day].mean(axis=1) for day in range(7)], axis=1)
        noise = counts[:, 28:] - exact[:, 28:] - (base[:, np.arange(28, 42) % 7] - expected)
        return 100 * noise / 1000

    return _width(asked, "change_1000", off, 100, epsilon=1)


def _graph(what: str) -> Any:
    data = so.publish.graph("friends", ENDS, unit="edge", nodes=300)
    account = so.account(data, so.unlimited("a benchmark"))
    if what == "edges":
        return _width(so.publish.edges(account), what, lambda made: made.value - len(ENDS), 2000, epsilon=1)
    if what == "degrees":
        truth = np.sort(np.bincount(ENDS.ravel(), minlength=300))[::-1]
        return _width(so.publish.degrees(account), what, lambda made: made.noisy - truth, 60, epsilon=1)
    exact = triangle_count(ENDS, 300) if what == "triangles" else star_count(ENDS, 300, 2, 299)
    asked = so.publish.triangles(account) if what == "triangles" else so.publish.stars(account)
    return _bound(asked, what, lambda made: made.value - exact, 200, epsilon=1)


def _genotypes(line: str) -> Any:
    replaced = so.Neighbours.REPLACE_ONE
    data = so.publish.genotypes("study", GENOTYPES, cases=CASES, people=200, neighbours=replaced)
    account = so.account(data, so.unlimited("a benchmark"))
    if line == "scores":
        sums = GENOTYPES - 1
        scores = np.abs(sums[CASES].sum(axis=0) - sums[~CASES].sum(axis=0)) / 2
        return _bound(so.publish.top_snps(account, count=3), line, lambda made: _short(made, scores), 300, epsilon=5)
    asked, sums = so.publish.frequencies(account, sites=20), (GENOTYPES[:, :20] - 1).sum(axis=0)
    if line == "sums":
        return _width(asked, line, lambda made: made.sums[:, 0] - sums, 400, epsilon=1)
    return _rms(asked, line, lambda made: made.estimates[:, 0] - (0.5 + sums / 400), 400, epsilon=1)


def _short(made: Any, scores: Any) -> Any:
    """Return how far each chosen score is below the best that was left."""
    left, found = scores.copy(), []
    for name in made.names:
        place = int(name) - 1
        found.append(left.max() - left[place])
        left[place] = -np.inf
    return np.array(found)


def _answers(line: str) -> Any:
    questions = [so.publish.those(city=city) for city in range(4)] * 3
    asked = so.publish.answers(_table(), ["city"], questions, updates=8)
    truth = np.bincount(CITY, minlength=4)[np.arange(12) % 4]
    if line == "counted":
        return _width(asked, line, lambda made: (made.answers - truth)[made.counted], 400, epsilon="0.3")
    return _bound(asked, line, lambda made: np.append((made.answers - truth)[~made.counted], 0), 200, epsilon="0.3")


def _synthetic() -> dict[str, float]:
    """The first thing that is measured of a column, caught as it leaves: later rounds measure it again."""
    truth, caught, release = np.bincount(CITY, minlength=4), [], Running.release

    def catching(running: Running, mechanism: Any, bound: Any, value: Any) -> Any:
        found = release(running, mechanism, bound, value)
        caught.append(found)
        return found

    asked = so.publish.synthetic(_table(), ["city"])
    seen = []
    Running.release = catching  # type: ignore[method-assign]
    try:
        for _ in range(1000):
            caught.clear()
            asked.run(epsilon=1)
            seen.append(np.asarray(caught[0]) - truth)
    finally:
        Running.release = release  # type: ignore[method-assign]
    price = asked.price(epsilon=1).error_of("city").amount
    return {"ratio": float(np.quantile(np.abs(np.concatenate(seen)), 0.95)) / price, "runs": len(seen)}


OUTCOMES: dict[str, Callable[[], dict[str, float]]] = {
    "ranges, pure ε": lambda: _ranges("ranges", epsilon=1),
    "ranges, ρ": lambda: _ranges("ranges", rho="0.1"),
    "prefixes, ρ": lambda: _ranges("prefixes", rho="0.1"),
    "marginals, ρ": _marginals,
    "map by hierarchy, a cell": lambda: _map("hierarchy", "cell"),
    "map by grid, a cell": lambda: _map("grid", "cell"),
    "map by quadtree, the total": lambda: _map("quadtree", "total"),
    "mobility, a cell": lambda: _mobility("people"),
    "mobility, a change": lambda: _mobility("change"),
    "edges": lambda: _graph("edges"),
    "degrees": lambda: _graph("degrees"),
    "triangles": lambda: _graph("triangles"),
    "stars": lambda: _graph("stars"),
    "allele frequencies": lambda: _genotypes("frequencies"),
    "sums of alleles": lambda: _genotypes("sums"),
    "top sites, scores": lambda: _genotypes("scores"),
    "answers, counted": lambda: _answers("counted"),
    "answers, by the model": lambda: _answers("model"),
    "synthetic rows, a column as measured": _synthetic,
}
