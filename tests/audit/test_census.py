"""Reconstruction of a census block: exact tables give everybody away, private ones no more than ε allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

import sordino as so
from sordino import mechanisms
from sordino.audit.attacks.census import overlap, reconstruct_census
from sordino.audit.attacks.integer_program import Program
from sordino.audit.attacks.published import Fact, Place, counts_by
from sordino.audit.attacks.rates import Contrast, Rate
from sordino.errors import ArgumentError

Records = list[dict[str, Any]]

# ---- the block of seven people in Garfinkel, Abowd, Martindale 2019, Table 1 -----------------------------------------

SEVEN_PLACE = Place(
    {"age": range(1, 126), "sex": ("female", "male"), "race": ("black", "white"), "status": ("single", "married")}
)


def adult(record: Any) -> bool:
    return bool(record["age"] >= 18)


SEVEN_FACTS = [
    Fact(count=7, median=30, mean=38),
    Fact({"sex": "female"}, count=4, median=30, mean=33.5),
    Fact({"sex": "male"}, count=3, median=30, mean=44),
    Fact({"race": "black"}, count=4, median=51, mean=48.5),
    Fact({"race": "white"}, count=3, median=24, mean=24),
    Fact(lambda record: adult(record) and record["status"] == "single", most=2),
    Fact(lambda record: adult(record) and record["status"] == "married", count=4, median=51, mean=54),
    Fact({"race": "black", "sex": "female"}, count=3, median=36, mean=36.7),
    Fact({"race": "black", "sex": "male"}, most=2),
    Fact({"race": "white", "sex": "male"}, most=2),
    Fact({"race": "white", "sex": "female"}, most=2),
    Fact(lambda record: record["age"] < 5, most=2),
    Fact(lambda record: record["age"] < 18, most=2),
    Fact(lambda record: record["age"] >= 64, most=2),
    Fact(lambda record: not adult(record) and record["status"] == "married", most=0),  # public knowledge
]
SEVEN = [
    dict(zip(SEVEN_PLACE.attributes, each, strict=True))
    for each in [
        (8, "female", "black", "single"),
        (18, "male", "white", "single"),
        (24, "female", "white", "single"),
        (30, "male", "white", "married"),
        (36, "female", "black", "married"),
        (66, "female", "black", "married"),
        (84, "male", "black", "married"),
    ]
]


def test_suppression_does_not_save_the_block_of_the_paper() -> None:
    found = so.audit.reconstruct_census(SEVEN_FACTS, SEVEN_PLACE, truth=SEVEN)
    assert found.records == SEVEN
    assert found.variability == 0.0
    assert found.certain.sum() == 7
    assert (found.correct, found.invented, found.misfit) == (1.0, 0.0, 0.0)


@pytest.mark.long
def test_without_the_statistic_of_one_small_group_two_blocks_fit() -> None:
    """Going through all combinations by hand finds these two, and no third."""
    other = [
        (2, "female", "black", "single"),
        (12, "male", "white", "single"),
        (24, "female", "white", "married"),
        (30, "male", "black", "married"),
        (36, "female", "white", "single"),
        (72, "female", "black", "married"),
        (90, "male", "black", "married"),
    ]
    facts = [fact for fact in SEVEN_FACTS if fact.group != {"race": "black", "sex": "female"}]
    found = reconstruct_census(facts, SEVEN_PLACE, truth=SEVEN, seconds=600)
    assert found.variability == 1.0  # nobody is in both
    assert found.certain.sum() == 0
    assert found.records in (SEVEN, [dict(zip(SEVEN_PLACE.attributes, each, strict=True)) for each in other])


def everybody_who_fits(facts: list[Fact], place: Place, people: int) -> list[np.ndarray]:
    """Go through all blocks of so many people, as a check that shares nothing with the solver."""
    cells = range(len(place.cells))
    blocks = [np.bincount(each, minlength=len(cells)) for each in combinations_with_replacement(cells, people)]
    return [histogram for histogram in blocks if all(holds(fact, place, histogram) for fact in facts)]


def holds(fact: Fact, place: Place, histogram: np.ndarray) -> bool:
    mask = place.group(fact.group)
    ages = np.repeat(place.years[mask], histogram[mask])
    return (
        (fact.count is None or len(ages) == fact.count)
        and (fact.most is None or len(ages) <= fact.most)
        and (fact.median is None or float(np.median(ages)) == fact.median)
        and (fact.mean is None or abs(float(ages.mean()) - fact.mean) <= 0.05 + 1e-9)
    )


@pytest.mark.parametrize("seed", range(6))
def test_what_is_certain_and_what_is_not_agrees_with_going_through_all_blocks(seed: int) -> None:
    dice = np.random.default_rng(seed)
    place = Place({"age": range(7), "sex": ("female", "male")})
    people = 3 + seed % 2
    truth = [{"age": int(dice.integers(7)), "sex": str(dice.choice(["female", "male"]))} for _ in range(people)]
    facts = []
    for group in (None, {"sex": "female"}, {"sex": "male"}):
        ages = [each["age"] for each in truth if group is None or each["sex"] == group["sex"]]
        if dice.random() < 0.3 or not ages:
            facts.append(Fact(group, most=max(2, len(ages))))
        else:
            mean = round(float(np.mean(ages)), 1) if dice.random() < 0.6 else None
            median = float(np.median(ages)) if dice.random() < 0.8 else None
            facts.append(Fact(group, count=len(ages), mean=mean, median=median))
    facts.append(Fact(count=people))
    found = reconstruct_census(facts, place, truth=truth)
    fitting = everybody_who_fits(facts, place, people)
    assert any(np.array_equal(found.histogram, each) for each in fitting)
    assert np.array_equal(found.certain, np.min(fitting, axis=0))
    farthest = max(people - np.minimum(found.histogram, each).sum() for each in fitting)
    assert found.variability == pytest.approx(farthest / people)


@pytest.mark.long
def test_three_men_of_median_30_and_mean_44_are_30_combinations() -> None:
    """The paper's Table 2, by going through all solutions: each next one must differ from all before it."""
    program = Program()
    ages = np.arange(1, 126)
    people = program.columns(len(ages), upper=3.0)
    program.row(people, 1.0, 3.0, 3.0)
    program.row(people, ages, 132.0, 132.0)
    program.row(people[ages <= 30], 1.0, low=2.0)
    program.row(people[ages >= 30], 1.0, low=2.0)
    seen = set()
    while (solved := program.least(people, 0.0, 30.0)) is not None:
        held = np.flatnonzero(solved[people])
        seen.add(tuple(np.repeat(ages, solved[people].astype(int)).tolist()))
        # At least one of these ages must be held by fewer people.
        less = program.columns(len(held), upper=1.0)
        program.row(less, 1.0, low=1.0)
        for one, age in zip(less, held.tolist(), strict=True):
            program.row([people[age], one], [1.0, 3.0], high=solved[people[age]] - 1 + 3.0)
    assert len(seen) == 30
    assert all(sorted(each)[1] == 30 and sum(each) == 132 for each in seen)


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_means_and_medians_are_said_exactly(size: int) -> None:
    """Whatever fits, has the mean and the median that were published; and the truth is never excluded."""
    dice = np.random.default_rng(size)
    place = Place({"age": range(30)})
    for _ in range(4):
        ages = np.sort(dice.integers(0, 30, size))
        fact = Fact(count=size, mean=round(float(ages.mean()), 1), median=float(np.median(ages)))
        found = np.array([record["age"] for record in reconstruct_census([fact], place).records])
        assert np.median(found) == np.median(ages)
        assert abs(found.mean() - ages.mean()) <= 0.1 + 1e-9
        # All ages known but the median: the truth must still be feasible.
        exact = counts_by(place, ["age"], place.tabulate([{"age": int(age)} for age in ages], ["age"]))
        assert reconstruct_census([fact, *exact], place).variability == 0.0


# ---- blocks drawn from a population ----------------------------------------------------------------------------------

PLACE = Place({"age": range(40), "sex": ("female", "male"), "race": ("a", "b", "c")})
BY_LUSTRUM = {"age": lambda age: age // 5}
TABLES: list[tuple[Sequence[str], dict[str, Callable[[Any], Any]]]] = [
    (("race", "sex", "age"), BY_LUSTRUM),
    (("sex", "age"), {}),
]


def block(people: int, dice: np.random.Generator) -> Records:
    ages = np.minimum(dice.gamma(2.0, 10.0, people).astype(int), 39)
    sexes = dice.choice(["female", "male"], people)
    races = dice.choice(["a", "b", "c"], people, p=[0.7, 0.2, 0.1])
    return [
        {"age": int(age), "sex": str(sex), "race": str(race)} for age, sex, race in zip(ages, sexes, races, strict=True)
    ]


def exact_tables(people: Records) -> list[Fact]:
    return [
        fact
        for names, coarse in TABLES
        for fact in counts_by(PLACE, names, PLACE.tabulate(people, names, coarse), coarse=coarse)
    ]


def private_tables(people: Records, epsilon: float) -> list[Fact]:
    """Release the same tables and the number of people, at ε in all; fit as many people as it says there are."""
    tables = [PLACE.tabulate(people, names, coarse) for names, coarse in TABLES]
    bound = so.Bound.vector(l0=len(TABLES) + 1, linf=1)
    laplace = mechanisms.Laplace.for_epsilon(epsilon, bound)
    counts = np.array([len(people)] + [count for table in tables for count in table.values()])
    noisy = laplace.release(counts, so.unlimited("a test").reserve(laplace.event(bound), bound)).tolist()
    facts, rest = [Fact(count=max(0, noisy[0]))], noisy[1:]
    for (names, coarse), table in zip(TABLES, tables, strict=True):
        mine, rest = rest[: len(table)], rest[len(table) :]
        said = dict(zip(table, mine, strict=True))
        facts += counts_by(PLACE, names, said, noise=float(laplace.scale), coarse=coarse)
    return facts


def test_exact_tables_of_blocks_give_most_people_away() -> None:
    dice = np.random.default_rng(1)
    blocks = [block(12, dice) for _ in range(4)]
    found = [reconstruct_census(exact_tables(people), PLACE, truth=people) for people in blocks]
    baseline = np.mean(
        [overlap(PLACE.histogram(block(12, dice)), PLACE.histogram(people)) for people in blocks for _ in range(20)]
    )
    assert np.mean([each.correct for each in found]) > 0.85
    assert np.mean([each.certain.sum() / 12 for each in found]) > 0.6
    assert baseline < 0.3
    for each in found:
        assert np.all(each.certain <= PLACE.histogram(each.records))
        assert each.truth is not None
        assert np.all(each.certain <= each.truth)
        assert each.agrees(0) == pytest.approx(each.correct)
        assert each.agrees(1) >= each.correct


@pytest.mark.parametrize("trials", [30, pytest.param(1000, marks=pytest.mark.long)])
def test_private_tables_give_away_no_more_than_epsilon_allows(trials: int) -> None:
    """A person is named as often with them in the block as without, up to e^ε; exact tables name them always."""
    epsilon = 1.0
    dice = np.random.default_rng(2)
    counted = {"inside": 0, "outside": 0, "exactly": 0}
    for trial in range(trials):
        people = block(8, dice)
        at = PLACE.cells.index(people[0])
        counted["inside"] += bool(reconstruct_census(private_tables(people, epsilon), PLACE).histogram[at])
        counted["outside"] += bool(reconstruct_census(private_tables(people[1:], epsilon), PLACE).histogram[at])
        if trial % (trials // 10) == 0:
            counted["exactly"] += bool(reconstruct_census(exact_tables(people), PLACE).histogram[at])
    contrast = Contrast.claiming(
        Rate(counted["inside"], trials), Rate(counted["outside"], trials), epsilon=epsilon, delta=0
    )
    assert not contrast.exceeds()
    assert contrast.inside.share < 0.35
    assert counted["exactly"] >= 7  # of 10


def test_noise_without_a_word_about_it_is_refused() -> None:
    people = block(8, np.random.default_rng(3))
    lied = [Fact(fact.group, count=fact.count) for fact in private_tables(people, 0.5)]
    with pytest.raises(ArgumentError, match="SRD-V013"):
        reconstruct_census(lied, PLACE)


def test_a_best_fit_is_never_called_certain() -> None:
    people = block(8, np.random.default_rng(3))
    found = reconstruct_census(private_tables(people, 50.0), PLACE, truth=people)
    assert found.variability is None
    assert found.certain.sum() == 0
    assert found.correct > 0.7  # at ε = 50 there is next to no noise: the guarantee is what protects, not the name
    assert "invented" in str(found)


# ---- arguments and figures -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: Place({}),
        lambda: Place({"age": ("old", "young")}),
        lambda: Place({"age": range(1000), "street": range(1000)}),
        lambda: Fact({"sex": "female"}),
        lambda: Fact(mean=30.0, most=3),
        lambda: Fact(count=3, mean=30.0, noise=1.0),
        lambda: Fact(count=3, noise=math.nan),
        lambda: PLACE.group({"height": 3}),
        lambda: PLACE.histogram([{"age": 200, "sex": "male", "race": "a"}]),
        lambda: counts_by(PLACE, ["sex"], {("neither",): 3}),
        lambda: reconstruct_census([], PLACE),
        lambda: reconstruct_census([Fact(count=1)], PLACE, seconds=0),
        lambda: reconstruct_census([Fact(count=2), Fact(count=3)], PLACE),
    ],
)
def test_what_makes_no_sense_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ArgumentError):
        call()


def test_an_empty_block_and_a_figure() -> None:
    empty = reconstruct_census([Fact(count=0)], PLACE, truth=[])
    assert empty.records == []
    assert empty.variability == 0.0
    few = block(5, np.random.default_rng(1))
    found = reconstruct_census(exact_tables(few), PLACE, truth=few)
    assert len(found.figure().axes[0].get_yticklabels()) == 6
    assert len(reconstruct_census([Fact(count=2)], PLACE).figure(beside=found).axes) == 2
    with pytest.raises(ArgumentError, match="SRD-V010"):
        _ = reconstruct_census([Fact(count=2)], PLACE).correct
