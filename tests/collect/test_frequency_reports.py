"""Many reports at once have the law of single ones: on the same words if they take them alike, else by chi-square."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy

from collect.enumerated import law
from collect.randomizers import MAKERS, Columns, Seeded, options, use
from sordino.collect.coins import Replayed
from sordino.collect.frequencies.columns import column_counts

THRESHOLD = 1e-9
"""Of a chi-square test: bits are seeded, so it never fails by chance once it has passed."""
ON_THE_SAME_WORDS = [
    (name, domain) for name in ("k-ary", "hadamard", "hashing", "hashing-fast") for domain in (2, 10, 1000, 100_000)
]


@pytest.mark.parametrize(("name", "domain"), ON_THE_SAME_WORDS)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "7"])
def test_many_are_each_by_its_own_words(name: str, domain: int, epsilon: str, monkeypatch: Any) -> None:
    randomizer = MAKERS[name](domain, epsilon)
    draw = np.random.default_rng(5)
    words = {"k-ary": 1, "hadamard": 2}.get(name) or randomizer.functions.digits + 2
    rows = draw.integers(0, 2**64, (300, words), dtype=np.uint64)
    values = draw.integers(0, domain, len(rows))
    use(monkeypatch, Columns(rows))
    many = randomizer.reports(values)
    for value, row, payload in zip(values.tolist(), rows, many, strict=True):
        assert randomizer.report(value, Replayed(row.astype("<u8").tobytes())) == payload.tobytes()


def _p_value(randomizer: Any, claimed: Any, value: int, draws: int) -> float:
    """Return how well bulk reports of one value fit the exact law of single reports by `claimed`."""
    wanted = law(claimed, value, options(claimed))
    seen = Counter(row.tobytes() for row in randomizer.reports(np.full(draws, value)))
    assert seen.keys() <= wanted.keys()
    expected = np.array([float(chance) * draws for chance in wanted.values()])
    found = np.array([seen[payload] for payload in wanted])
    often = expected >= 5
    pooled = [np.append(each[often], each[~often].sum()) for each in (found, expected)]
    if pooled[1][-1] < 5:
        pooled = [each[:-1] if each[-1] == 0 else np.append(each[:-2], each[-2:].sum()) for each in pooled]
    statistic = float(((pooled[0] - pooled[1]) ** 2 / pooled[1]).sum())
    return float(scipy.stats.chi2.sf(statistic, len(pooled[0]) - 1))


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("domain", [2, 5])
def test_many_have_the_law_of_one(name: str, domain: int, monkeypatch: Any) -> None:
    use(monkeypatch, Seeded(1))
    randomizer = MAKERS[name](domain, 1)
    for value in (0, domain - 1):
        p = _p_value(randomizer, randomizer, value, 60_000)
        assert p > THRESHOLD, f"n = 60000, value {value}, p = {p}"


@pytest.mark.parametrize("name", ["k-ary", "unary", "unary-symmetric", "hadamard", "subset"])
@pytest.mark.parametrize("level", ["0.7", "1.3"])
def test_another_epsilon_is_told_apart(name: str, level: str, monkeypatch: Any) -> None:
    use(monkeypatch, Seeded(2))
    randomizer, claimed = MAKERS[name](4, 1), MAKERS[name](4, level)
    assert randomizer.size == claimed.size
    if name == "subset" and randomizer.chosen != claimed.chosen:
        pytest.fail("the sets must have one size")
    assert _p_value(randomizer, claimed, 2, 60_000) < THRESHOLD


@pytest.mark.parametrize(("domain", "epsilon"), [(300, 6), (40, 1), (9, 1), (2000, 5)])
def test_sets_are_of_the_right_size(domain: int, epsilon: int, monkeypatch: Any) -> None:
    """Both forms of a payload, single and many; the value is in as often as it should be."""
    use(monkeypatch, Seeded(3))
    subset = MAKERS["subset"](domain, epsilon)
    values = np.arange(5000) % domain
    payloads = subset.reports(values)
    assert payloads.shape == (5000, subset.size)
    assert subset.well_formed(payloads).all()
    assert subset.count(payloads).sum() == 5000 * subset.chosen
    single = np.stack([np.frombuffer(subset.report(v, Seeded(v)), np.uint8) for v in range(9)])
    assert subset.well_formed(single).all()
    inside = np.sum([subset.count(payloads[values == v])[v] for v in range(domain)])
    share = float(subset.support.own)
    assert abs(inside - 5000 * share) < 6 * np.sqrt(5000 * share * (1 - share))


@pytest.mark.parametrize("name", MAKERS)
def test_no_reports_are_no_reports(name: str) -> None:
    randomizer = MAKERS[name](30, 1)
    none = randomizer.reports(np.empty(0, dtype=np.int64))
    assert none.shape == (0, randomizer.size)
    assert not randomizer.count(none).any()


@pytest.mark.parametrize("name", MAKERS)
def test_counts_of_parts_add_up(name: str, monkeypatch: Any) -> None:
    use(monkeypatch, Seeded(4))
    for domain in (2, 30, 2100):
        randomizer = MAKERS[name](domain, 2)
        payloads = randomizer.reports(np.arange(700) % domain)
        parts = randomizer.count(payloads[:123]) + randomizer.count(payloads[123:])
        assert (parts == randomizer.count(payloads)).all()


@pytest.mark.parametrize(("rows", "size"), [(1, 1), (7, 3), (2041, 1), (70_000, 2), (300, 125), (3, 40_000)])
def test_columns_are_counted_as_they_are(rows: int, size: int) -> None:
    payloads = np.random.default_rng(6).integers(0, 256, (rows, size), dtype=np.uint8)
    wanted = sum(np.unpackbits(row, bitorder="little").astype(np.int64) for row in payloads)
    assert (column_counts(payloads) == wanted).all()
    assert (column_counts(np.full((rows, size), 255, dtype=np.uint8)) == rows).all()


@pytest.mark.parametrize(
    ("name", "domain", "epsilon"),
    [
        *(("hashing", *each) for each in ((2, 1), (50, "0.2"), (50, 3), (700, 2), (3000, 5), (3000, 9))),
        *(("hashing-fast", *each) for each in ((2, 1), (50, "0.2"), (50, 3), (700, 2), (3000, 1), (3000, 3))),
    ],
)
def test_hashed_counts_are_those_of_each_value(name: str, domain: int, epsilon: object, monkeypatch: Any) -> None:
    """Tables and ways along intervals, against each report's bucket of every value one by one."""
    use(monkeypatch, Seeded(7))
    randomizer = MAKERS[name](domain, epsilon)
    values = np.arange(120) * 7 % domain
    payloads = randomizer.reports(values)
    functions, buckets = randomizer._read(payloads)
    wanted = [
        sum(
            randomizer.functions.bucket(tuple(function), value) == bucket
            for function, bucket in zip(functions.T.tolist(), buckets.tolist(), strict=True)
        )
        for value in range(domain)
    ]
    assert randomizer.supported(randomizer.count(payloads)).tolist() == wanted


@pytest.mark.parametrize("name", MAKERS)
def test_foreign_bytes_are_not_well_formed(name: str) -> None:
    """Of all payloads of one length just those that a device can send are taken, on a domain where all can be tried."""
    randomizer = MAKERS[name](3, 1)
    possible = set().union(*(law(randomizer, value, options(randomizer)) for value in range(3)))
    draw = np.random.default_rng(8)
    rows = draw.integers(0, 256, (4000, randomizer.size), dtype=np.uint8)
    rows = np.concatenate([rows, rows & 3, np.stack([np.frombuffer(each, np.uint8) for each in possible])])
    told = randomizer.well_formed(rows)
    assert told.tolist() == [row.tobytes() in possible for row in rows]


def test_lists_that_are_no_sets_are_refused() -> None:
    subset = MAKERS["subset"](300, 5)
    good = subset.reports(np.arange(3))
    assert subset.listed
    assert subset.chosen == 2
    for bad in ([5, 5], [7, 6], [0, 300], [0, 65535]):
        row = np.array(bad, dtype="<u2").view(np.uint8)[None]
        assert not subset.well_formed(row).any()
    assert subset.well_formed(good).all()
