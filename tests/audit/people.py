"""Populations that look like those of the great breaches: a town, film subscribers, searchers, a firm. All made up."""

from __future__ import annotations

import numpy as np
import pandas as pd

SEXES = ["F", "M"]
DECADES = [f"{decade}s" for decade in range(1910, 1990, 10)]
DIAGNOSES = ["none", "hypertension", "diabetes", "asthma", "depression", "cancer", "hepatitis", "hiv"]


def town(people: int = 16_000, zips: int = 3, seed: int = 0) -> pd.DataFrame:
    """Return everybody of a town, as a voter roll of 1997 would have them, with what their hospital knows.

    A ZIP code has about 5,000 voters, as in Cambridge, Massachusetts. Half of them, by lot, have a hospital record.
    """
    dice = np.random.default_rng(seed)
    born = pd.Timestamp("1979-01-01") - pd.to_timedelta((dice.beta(1.2, 2.2, people) * 25_000).astype(int), "D")
    year = born.year.to_numpy()
    sex = dice.choice(SEXES, people)
    frailty = (1990 - year) / 80
    odds = np.column_stack(
        [
            np.full(people, 3.0),
            0.5 + 3.0 * frailty,
            0.3 + 1.5 * frailty,
            0.9 - 0.4 * frailty,
            np.where(sex == "F", 0.9, 0.5),
            0.1 + 1.2 * frailty,
            np.full(people, 0.1),
            np.where(year > 1950, 0.15, 0.03),
        ]
    )
    ends = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    diagnosis = np.array(DIAGNOSES)[(dice.random(people)[:, None] > ends[:, :-1]).sum(axis=1)]
    return pd.DataFrame(
        {
            "person": dice.permutation(people),
            "zip": dice.choice([f"0213{place}" for place in range(zips)], people),
            "birth": born.date,
            "sex": sex,
            "decade": [f"{each}s" for each in year // 10 * 10],
            "diagnosis": diagnosis,
            "patient": dice.random(people) < 0.5,
        }
    )


WARDS = ["maternity", "urology", "paediatrics", "surgery", "cardiology", "oncology"]


def hospital(people: int = 6_000, seed: int = 0) -> pd.DataFrame:
    """Return the patients of a hospital, whose ward has much to do with their age and sex, as wards have."""
    dice = np.random.default_rng(seed)
    age, sex = dice.integers(0, 95, people), dice.choice(SEXES, people)
    odds = np.column_stack(
        [
            np.where((sex == "F") & (age > 17) & (age < 45), 12.0, 0.0),
            np.where((sex == "M") & (age > 60), 2.0, 0.0),
            np.where(age < 15, 40.0, 0.0),
            np.where(age < 15, 0.5, 1.0),
            np.where(age < 45, 0.02, 2.0),
            np.where(age < 30, 0.05, 1.0),
        ]
    )
    ends = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    return pd.DataFrame(
        {
            "person": np.arange(people),
            "zip": dice.choice([f"0213{place}" for place in range(4)], people),
            "age": age,
            "sex": sex,
            "decade": age // 10 * 10,
            "ward": np.array(WARDS)[(dice.random(people)[:, None] > ends[:, :-1]).sum(axis=1)],
        }
    )


def ratings(subscribers: int = 3_000, titles: int = 800, seed: int = 0) -> pd.DataFrame:
    """Return ratings of films: a few that everybody has seen, and many that few have, on days over six years."""
    dice = np.random.default_rng(seed)
    popularity = 1 / np.arange(1, titles + 1) ** 0.8
    many = np.clip(dice.lognormal(3.4, 0.8, subscribers), 12, titles // 4).astype(int)
    # The first `many` of a random order that favours popular titles: sampling without repetition, by exponential races.
    races = dice.exponential(1, (subscribers, titles)) / popularity
    chosen = np.argsort(np.argsort(races, axis=1), axis=1) < many[:, None]
    who, title = np.nonzero(chosen)
    quality, kindness = dice.normal(3.5, 0.5, titles), dice.normal(0, 0.4, subscribers)
    stars = np.clip(np.rint(quality[title] + kindness[who] + dice.normal(0, 0.9, who.size)), 1, 5)
    joined = dice.integers(0, 1500, subscribers)
    day = joined[who] + dice.integers(0, 700, who.size)
    return pd.DataFrame({"subscriber": who, "title": title, "rating": stars.astype(int), "day": day})


def remembered(
    ratings: pd.DataFrame, targets: np.ndarray, known: int, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what somebody remembers of each target's films, inexactly, and one rating more that they do not know."""
    dice = np.random.default_rng(seed)
    theirs = ratings[ratings.subscriber.isin(targets)].sample(frac=1, random_state=seed)
    place = theirs.groupby("subscriber").cumcount()
    seen = theirs[place < known].copy()
    seen["rating"] = np.clip(seen.rating + dice.choice([-1, 0, 1], len(seen), p=[0.15, 0.7, 0.15]), 1, 5)
    seen["day"] = seen.day + dice.integers(-14, 15, len(seen))
    return seen, theirs[place == known]


SURNAMES = 1_500
TOWNS = 120
_SYLLABLES = [
    "ar",
    "bel",
    "cor",
    "dan",
    "el",
    "far",
    "gor",
    "hal",
    "is",
    "jen",
    "kol",
    "lar",
    "mor",
    "nel",
    "os",
    "par",
]


def invented_words(count: int, ending: str) -> np.ndarray:
    """Return as many different words that look like names."""
    base = len(_SYLLABLES)
    return np.array(
        [
            _SYLLABLES[i % base] + _SYLLABLES[i // base % base] + _SYLLABLES[i // base**2 % base] + ending
            for i in range(count)
        ]
    )


def searchers(people: int = 5_000, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a phone book, and the searches of half of the people in it, by lot.

    Most searches are what everybody asks; many are about their own town and family, and some about their trouble.
    """
    dice = np.random.default_rng(seed)
    surnames, towns = invented_words(SURNAMES, "son"), invented_words(TOWNS, "ville")
    rare = 1 / np.arange(1, SURNAMES + 1) ** 0.6
    book = pd.DataFrame(
        {
            "person": np.arange(people),
            "surname": dice.choice(surnames, people, p=rare / rare.sum()),
            "town": dice.choice(towns, people),
        }
    )
    inside = np.flatnonzero(dice.random(people) < 0.5)
    lines = [
        _common(dice, inside, np.append(surnames, towns)),
        _about(dice, inside, book.town.to_numpy(), ["{} weather", "homes for sale in {}", "landscapers in {}"], 3),
        _about(dice, inside, book.surname.to_numpy(), ["{} family", "{} genealogy", "jarrett {}"], 2),
        _about(dice, inside, np.array([f"trouble {n}" for n in range(people)]), ["{} treatment"], 1),
    ]
    return book, pd.concat(lines).sample(frac=1, random_state=seed, ignore_index=True)


def _common(dice: np.random.Generator, who: np.ndarray, names: np.ndarray) -> pd.DataFrame:
    topics = [f"topic {n}" for n in range(400)] + [f"{name} hotel" for name in dice.choice(names, 100)]
    weights = 1 / np.arange(1, len(topics) + 1)
    user = np.repeat(who, dice.integers(5, 30, who.size))
    return pd.DataFrame({"user": user, "query": dice.choice(topics, user.size, p=weights / weights.sum())})


def _about(dice: np.random.Generator, who: np.ndarray, names: np.ndarray, forms: list[str], times: int) -> pd.DataFrame:
    user = np.repeat(who, dice.poisson(times, who.size))
    form = dice.choice(forms, user.size)
    return pd.DataFrame({"user": user, "query": [f.replace("{}", names[u]) for f, u in zip(form, user, strict=True)]})


def firm(people: int = 1_200, seed: int = 0) -> pd.DataFrame:
    """Return the staff of a firm; Alice is one of them."""
    dice = np.random.default_rng(seed)
    department = dice.choice(["sales", "research", "law", "works"], people, p=[0.3, 0.3, 0.1, 0.3])
    salary = np.clip(dice.lognormal(11, 0.4, people), 20_000, 290_000).round(2)
    names = np.array([f"person {n}" for n in range(people)])
    names[17] = "Alice"
    return pd.DataFrame(
        {
            "id": np.arange(people),
            "name": names,
            "department": department,
            "sex": dice.choice(SEXES, people),
            "born": dice.integers(1955, 2003, people),
            "salary": salary,
            "ill": dice.random(people) < 0.3,
        }
    )
