"""Rows without names get their names back from the raw release, and not from what sordino releases instead."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sordino as so
from audit.people import DECADES, DIAGNOSES, SEXES, ratings, remembered, searchers, town
from sordino.audit.attacks.linkage import link, uniqueness
from sordino.audit.attacks.rates import Contrast, Rate
from sordino.audit.attacks.ratings import link_ratings
from sordino.audit.attacks.scoreboard import best_matches
from sordino.audit.attacks.searches import link_searches
from sordino.errors import ArgumentError

ON = ["zip", "birth", "sex"]
CELLS = "SELECT zip, sex, decade, diagnosis, COUNT(*) AS n FROM patients GROUP BY zip, sex, decade, diagnosis"


# ---- the governor ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def roll() -> pd.DataFrame:
    return town()


@pytest.fixture(scope="module")
def patients(roll: pd.DataFrame) -> pd.DataFrame:
    return roll[roll.patient]


def hospital_account(patients: pd.DataFrame, epsilon: float) -> Any:
    data = so.dataset(
        "patients",
        patients,
        unit="person",
        columns={
            "zip": so.keys(sorted(patients.zip.unique())),
            "sex": so.keys(SEXES),
            "decade": so.keys(DECADES),
            "diagnosis": so.keys(DIAGNOSES),
        },
        limits=so.limits(rows=1),
    )
    return so.account(data, so.budget(epsilon=epsilon, delta=1e-6))


def test_zip_birth_date_and_sex_name_a_person(roll: pd.DataFrame, patients: pd.DataFrame) -> None:
    found = so.audit.link(patients, roll, ON, who="person", sensitive="diagnosis")
    assert 0.8 < found.unique.share < 0.95  # Sweeney found 0.87 for the United States
    assert found.claimed.share > 0.8
    assert found.right.share == 1.0  # the roll has everybody, so that who is alone in it is certain
    assert found.raw.inside.share > 0.95
    assert found.raw.outside.share < 0.5
    assert found.private is None


def test_a_private_table_says_no_more_about_those_in_it_than_about_others(
    roll: pd.DataFrame, patients: pd.DataFrame
) -> None:
    answer = hospital_account(patients, 1).sql(CELLS).run(epsilon=0.5)
    found = link(patients, roll, ON, who="person", sensitive="diagnosis", private=answer)
    assert found.private is not None
    assert found.private.epsilon == 0.5
    assert not found.private.exceeds()
    assert found.private.advantage < 0.05  # where the raw release gives 0.5 and more, and ε = 0.5 allows 0.25
    assert found.raw.advantage > 0.5
    # The same table still tells what is true of people at large: it guesses strangers as well as the raw rows do.
    assert found.private.outside.share > found.raw.outside.share - 0.05


def test_private_keys_show_no_combination_that_is_one_persons(roll: pd.DataFrame, patients: pd.DataFrame) -> None:
    text = "SELECT zip, birth, sex, diagnosis, COUNT(*) AS n FROM patients GROUP BY zip, birth, sex, diagnosis"
    answer = hospital_account(patients, 1).sql(text).run(epsilon=1)
    found = link(patients, roll, ON, who="person", sensitive="diagnosis", private=answer)
    assert len(answer) == 0
    assert found.private is not None
    assert abs(found.private.advantage) < 0.05


def test_exact_counts_that_claim_to_be_private_are_found_out(roll: pd.DataFrame, patients: pd.DataFrame) -> None:
    exact = patients.groupby([*ON, "diagnosis"]).size().rename("n").reset_index()
    found = link(patients, roll, ON, who="person", sensitive="diagnosis", private=exact, count="n", epsilon=0.5)
    assert found.private is not None
    assert found.private.exceeds()
    assert found.private.advantage > 0.5


def test_tables_of_every_kind_give_the_same(roll: pd.DataFrame, patients: pd.DataFrame) -> None:
    words = {"who": "person", "sensitive": "diagnosis"}
    expected = link(patients, roll, ON, **words)
    kinds: list[Any] = [pl.from_pandas, pa.Table.from_pandas, lambda frame: {name: frame[name] for name in frame}]
    for kind in kinds:
        assert link(kind(patients), kind(roll), ON, **words) == expected
    coded = patients.astype({"zip": "category"})
    assert link(coded, roll, ON, **words) == expected


def test_a_person_is_unique_or_not() -> None:
    people = {"zip": ["a", "a", "b", None], "sex": ["F", "F", "F", "F"]}
    assert uniqueness(people, ["zip", "sex"]) == Rate(2, 4)
    assert uniqueness(people, ["sex"]) == Rate(0, 4)


def test_a_join_by_hand() -> None:
    release = {"who": [1, 2, 3], "zip": ["a", "b", "b"], "ill": ["x", "y", "z"]}
    roll = {"who": [1, 2, 3, 4], "zip": ["a", "b", "b", "c"], "ill": ["x", "y", "z", "x"]}
    found = link(release, roll, ["zip"], who="who", sensitive="ill")
    assert (found.unique, found.claimed, found.right) == (Rate(2, 4), Rate(1, 3), Rate(1, 1))
    assert found.raw.inside == Rate(2, 3)  # of two who share a code one is guessed, and the other is not
    assert found.raw.outside == Rate(1, 1)  # by what is most common, where nothing fits


def test_a_name_can_be_wrong() -> None:
    # Person 2 is in the release but not in the roll; person 9 looks the same.
    found = link(
        {"who": [2], "zip": ["a"], "ill": ["x"]},
        {"who": [9], "zip": ["a"], "ill": ["y"]},
        ["zip"],
        who="who",
        sensitive="ill",
    )
    assert (found.claimed, found.right) == (Rate(1, 1), Rate(0, 1))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"on": ["street"]}, "has no column 'street'"),
        ({"on": "zip"}, "list"),
        ({"who": "zip"}, "one row for each 'zip'"),
        ({"private": {"ill": ["x"], "n": [3]}}, "count="),
        ({"private": {"ill": ["x"], "n": [3]}, "count": "n"}, "epsilon="),
        ({"private": {"ill": ["x"], "n": ["3"]}, "count": "n", "epsilon": 1}, "must hold numbers"),
        ({"private": {"ill": ["x"], "n": [3]}, "count": "n", "epsilon": -1}, "epsilon must be at least 0"),
        ({"release": 3}, "must be a table"),
        ({"release": {"who": [[1], [2]], "zip": ["a", "b"], "ill": ["x", "y"]}}, "cannot be compared"),
    ],
)
def test_misuse_is_refused(words: dict[str, Any], says: str) -> None:
    release = {"who": [1, 2], "zip": ["a", "a"], "ill": ["x", "y"]}
    given = {"release": release, "roll": release, "on": ["zip"], "who": "who", "sensitive": "ill"} | words
    with pytest.raises(ArgumentError, match=says):
        link(**given)


# ---- rates ----------------------------------------------------------------------------------------------------------


def test_an_interval_covers_as_often_as_it_says() -> None:
    dice = np.random.default_rng(5)
    hits = dice.binomial(40, 0.3, 400)
    ends = {int(each): Rate(int(each), 40).interval(0.9) for each in np.unique(hits)}
    covered = np.mean([ends[int(each)][0] <= 0.3 <= ends[int(each)][1] for each in hits])
    assert covered > 0.87
    assert Rate(0, 10).interval()[0] == 0.0
    assert Rate(10, 10).interval()[1] == 1.0
    assert math.isnan(Rate(0, 0).share)
    assert str(Rate(0, 0)) == "no case"


def test_what_epsilon_allows() -> None:
    even = Contrast.claiming(Rate(73, 100), Rate(27, 100), 1)
    assert even.allowed == pytest.approx(min(math.e * 0.27, 1 - 0.73 / math.e))
    assert not even.exceeds()
    assert Contrast.claiming(Rate(990, 1000), Rate(10, 1000), 1).exceeds()
    assert Contrast.claiming(Rate(5, 10), Rate(0, 10), 0, 0.5).allowed == 0.5
    assert Contrast(Rate(10, 10), Rate(0, 10)).allowed == 1.0  # nothing was claimed


# ---- ratings --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def films() -> dict[str, Any]:
    everything = ratings(1_600, 500)
    dice = np.random.default_rng(3)
    inside = dice.random(1_600) < 0.5
    known, hidden = remembered(everything, dice.permutation(1_600)[:400], 8)
    return {"release": everything[inside[everything.subscriber]], "known": known, "hidden": hidden}


def test_eight_inexact_ratings_name_a_subscriber(films: dict[str, Any]) -> None:
    found = link_ratings(**films)
    assert found.amounts == (2, 4, 6, 8)
    assert found.identified[-1].share > 0.95
    assert found.identified[0].share < found.identified[-1].share
    assert found.precision[-1].share > 0.8
    assert found.accused[-1].share < 0.25
    assert found.raw.inside.share > 0.95
    assert found.raw.advantage > 0.4


def test_private_means_name_no_rating_of_those_in_them(films: dict[str, Any]) -> None:
    data = so.dataset(
        "ratings",
        films["release"],
        unit="subscriber",
        columns={"title": so.keys(list(range(500))), "rating": so.bounds(1, 5)},
        limits=so.limits(rows=20),
    )
    text = "SELECT title, AVG(rating) AS mean FROM ratings GROUP BY title"
    answer = so.account(data, so.budget(epsilon=1)).sql(text).run(epsilon=1)
    found = link_ratings(**films, amounts=(8,), private=answer)
    assert found.private is not None
    assert not found.private.exceeds()
    assert found.private.advantage < 0.2 < 0.4 < found.raw.advantage


def test_without_memory_nobody_is_named(films: dict[str, Any]) -> None:
    dice = np.random.default_rng(8)
    known = films["known"].copy()
    known["title"] = dice.integers(0, 500, len(known))
    known["day"] = dice.integers(0, 2200, len(known))
    found = link_ratings(films["release"], known, films["hidden"], amounts=(8,))
    assert found.identified[0].share < 0.1


def test_scores_are_those_of_the_paper() -> None:
    release = {"subscriber": [1, 1, 2, 3], "title": ["a", "b", "a", "b"], "rating": [5, 1, 2, 1], "day": [0, 9, 90, 9]}
    known = {"subscriber": [1, 1], "title": ["a", "b"], "rating": [5, 1], "day": [3, 9]}
    hidden = {"subscriber": [1], "title": ["a"], "rating": [5], "day": [0]}
    # By hand: a and b were each rated by two, so both weigh 1 / log 2.
    one, two, three = (1 + math.exp(-0.1) + 2), (math.exp(-2) + math.exp(-87 / 30)), 2.0
    lead = (one - three) / np.std([one, two, three])
    assert link_ratings(release, known, hidden, amounts=(2,), eccentricity=lead - 1e-9).identified[0] == Rate(1, 1)
    assert link_ratings(release, known, hidden, amounts=(2,), eccentricity=lead + 1e-9).identified[0] == Rate(0, 1)


def test_only_a_clear_winner_is_believed() -> None:
    best, clear = best_matches(np.array([[0.0, 0, 0, 9], [8, 9, 8, 9], [0, 0, 0, 0]]), 1.5)
    assert best[0] == 3
    assert clear.tolist() == [True, False, False]
    assert best_matches(np.array([[1.0], [0.0]]), 1.5)[1].tolist() == [True, False]


def test_ratings_are_read_in_any_order(films: dict[str, Any]) -> None:
    shuffled = films | {"release": films["release"].sample(frac=1, random_state=1)}
    assert link_ratings(**shuffled) == link_ratings(**films)
    dated = {
        name: frame.assign(day=pd.Timestamp("2000-01-01") + pd.to_timedelta(frame.day, "D"))
        for name, frame in films.items()
    }
    assert link_ratings(**dated) == link_ratings(**films)
    with pytest.raises(ArgumentError, match="four"):
        link_ratings(**films, columns=("subscriber", "title"))


# ---- searches -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def searched() -> tuple[pd.DataFrame, pd.DataFrame]:
    return searchers(3_000)


def test_towns_and_families_name_a_searcher(searched: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    book, log = searched
    found = link_searches(log, book, ["surname", "town"])
    assert found.claimed.share > 0.5
    assert found.right.share > 0.95
    assert found.lines.share > 0.5
    assert found.raw.inside.share > 0.5
    assert found.raw.outside.share < 0.02


def test_private_counts_of_queries_name_nobody(searched: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    book, log = searched
    data = so.dataset("log", log, unit="user", limits=so.limits(groups=5, rows_per_group=1))
    text = "SELECT query, COUNT(DISTINCT user) AS people FROM log GROUP BY query"
    answer = so.account(data, so.budget(epsilon=4, delta=1e-6)).sql(text).run(epsilon=2)
    found = link_searches(log, book, ["surname", "town"], private=answer)
    assert len(answer) > 10  # what many ask is still there
    assert found.alone is not None
    assert found.alone.inside.hits == 0
    assert found.alone.inside.cases > 1_000
    assert found.alone.allowed == pytest.approx(found.alone.delta)
    assert 0 < found.alone.delta < 1e-6
    assert found.private is not None
    assert not found.private.exceeds()
    assert found.private.inside.share < 0.02


def test_queries_released_without_selection_are_found_out(searched: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    book, log = searched
    noisy = log.groupby("query").user.nunique().rename("people").reset_index()  # noise in counts does not hide keys
    found = link_searches(log, book, ["surname", "town"], private=noisy, epsilon=1, delta=1e-6)
    assert found.alone is not None
    assert found.alone.inside.share == 1
    assert found.alone.exceeds()
    assert found.private is not None
    assert found.private.advantage > 0


def test_names_are_words_not_parts_of_words() -> None:
    log = {"user": [1, 1, 2, 3], "query": ["Arnold's family", "lilburn weather", "arnoldson lilburnia", "news"]}
    book = {
        "person": [1, 5, 6, 7],
        "surname": ["Arnold", "Baker", "Cook", "Dyer"],
        "town": ["Lilburn", "Rome", "Oslo", "Bern"],
    }
    found = link_searches(log, book, ["surname", "town"])
    assert (found.claimed, found.right, found.lines) == (Rate(1, 3), Rate(1, 1), Rate(2, 4))
    with pytest.raises(ArgumentError, match="of texts"):
        link_searches(log, book, ["person"])
    with pytest.raises(ArgumentError, match="one row for each"):
        link_searches(log, {**book, "person": [1, 1, 2, 3]}, ["surname"])


# ---- figures --------------------------------------------------------------------------------------------------------


def test_figures_show_both_halves(films: dict[str, Any]) -> None:
    found = link_ratings(**films, amounts=(2, 8))
    claim = Contrast.claiming(found.raw.outside, found.raw.outside, 1)
    for result in (found, dataclasses.replace(found, private=claim)):
        left, right = result.figure().axes
        assert len(left.lines) == 2
        assert len(right.patches) == (2 if result.private is None else 5)
    assert "hidden rating named, private" in str(dataclasses.replace(found, private=claim))
