"""The error of queries at equal ε, beside OpenDP, SmartNoise, Tumult, PipelineDP and diffprivlib."""

from __future__ import annotations

from typing import Any

import query_data
from measure import Call, Case
from query_bars import covers, errors_at_most, keeps_at_least, medians_at_most
from query_data import EPSILON

NOTES = """\
Visits: 20,000 rows, five public cities, count and mean fare, one person protected, three of whose rows count
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

OUR_REPETITIONS = 1_500
PEER_REPETITIONS = {"opendp": 2_000, "smartnoise": 1_000, "pipelinedp": 1_000}
"""Enough that a ratio is known to about two percent: each repetition gives five counts and five means."""
TUMULT_COPIES, TUMULT_REPETITIONS = 100, 8
"""Tumult takes about ten seconds for every query, so it answers a hundred tasks side by side in each."""

MEDIANS_OF_OURS = 1_000
MEDIANS_OF_PEERS = {"opendp": 1_000, "diffprivlib": 1_000, "tumult": 600}
"""For each of six settings: the mean ratio is known to about two percent, beside Tumult three."""


def cases() -> list[Case]:
    """Return the cases of this room."""
    return [*_visits(), *_medians(), *_private_keys()]


def tidy() -> None:
    """Remove the data."""
    query_data.tidy()


def _visits() -> list[Case]:
    """At most three visits each, so that nothing is cut; then five each, of which every side keeps three."""
    nothing_cut = Call("sordino_query", "visits", query_data.task(8_000) | {"repetitions": OUR_REPETITIONS})
    found = [_visits_against(peer, 8_000, 1.0, "nothing cut") for peer in (*PEER_REPETITIONS, "tumult")]
    found.append(Case("visits, 95 % intervals", nothing_cut, None, covers(0.94), repeats=1, fresh=True))
    found += [_visits_against(peer, 4_000, 0.1, "three visits of five kept") for peer in PEER_REPETITIONS]
    return found


def _visits_against(peer: str, people: int, share: float, words: str) -> Case:
    """`share`: how many of the usual repetitions."""
    if peer == "tumult":
        theirs = query_data.task(people, TUMULT_COPIES) | {"repetitions": TUMULT_REPETITIONS}
    else:
        theirs = query_data.task(people) | {"repetitions": int(PEER_REPETITIONS[peer] * share)}
    ours = query_data.task(people) | {"repetitions": int(OUR_REPETITIONS * share)}
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
