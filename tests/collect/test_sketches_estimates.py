"""What sketches estimate: by brute force from reports, as far off as is said beforehand, within intervals as often."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from collect.randomizers import Seeded
from sordino.collect.coins import Replayed
from sordino.collect.fingerprint import canonical, cell, cells_of, fingerprint, fingerprints, key, keys, mixed
from sordino.collect.frequencies.collisions import squares_of
from sordino.collect.frequencies.count_mean import CountMeanSketch
from sordino.collect.frequencies.hadamard_mean import HadamardCountMeanSketch, transformed
from sordino.collect.frequencies.memoised_hashing import MemoisedHashing
from sordino.collect.frequencies.prefix_tree import PrefixTree
from sordino.collect.frequencies.projective import ProjectiveGeometry
from sordino.collect.frequencies.rappor import Rappor
from sordino.collect.frequencies.sketch import WORDS
from sordino.errors import ArgumentError

SOURCES = (
    "sordino.collect.frequencies.count_mean",
    "sordino.collect.frequencies.hadamard_mean",
    "sordino.collect.frequencies.projective",
    "sordino.collect.frequencies.prefix_tree",
    "sordino.collect.frequencies.memoised_hashing",
    "sordino.collect.frequencies.rappor",
    "sordino.collect.frequencies.k_ary",
    "sordino.noise.planes",
)


@pytest.fixture(autouse=True)
def _repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Seeded(1)
    for module in SOURCES:
        monkeypatch.setattr(f"{module}.SOURCE", source)


MAKERS: dict[str, Any] = {
    "count-mean": lambda domain, epsilon, salt=0: CountMeanSketch(domain, epsilon, hashes=64, salt=salt),
    "hadamard-mean": lambda domain, epsilon, salt=0: HadamardCountMeanSketch(domain, epsilon, 64, 256, salt),
    "projective": lambda domain, epsilon, salt=0: ProjectiveGeometry(domain, epsilon),  # noqa: ARG005
    "memoised": lambda domain, epsilon, salt=0: MemoisedHashing(domain, 2 * epsilon, epsilon, seeds=2**13, salt=salt),
}


def _held(domain: int, people: int) -> Any:
    weights = 1 / np.arange(1, domain + 1)
    return np.repeat(np.arange(domain), np.maximum(1, (people * weights / weights.sum()).astype(int)))


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(("domain", "epsilon"), [(10, 1), (300, 2)])
def test_errors_are_those_foretold_and_intervals_cover(name: str, domain: int, epsilon: int) -> None:
    """Over salts and coins: the claimed variance is accepted, 0.7 and 1.3 times it is rejected; 95 % are covered."""
    values = _held(domain, 3000)
    truth, people = np.bincount(values, minlength=domain), len(values)
    runs = 2500 // domain + 8
    scores, covered, bias = [], [], np.zeros(domain)
    for run in range(runs):
        way = MAKERS[name](domain, epsilon, run)
        estimate = way.estimate(way.count(way.reports(values)), people)
        foretold = np.array([way.variance(people, float(held)) for held in truth])
        scores.append((estimate.values - truth) ** 2 / foretold)
        low, high = estimate.intervals().T
        covered.append((low <= truth) & (truth <= high))
        bias += (estimate.values - truth) / np.sqrt(foretold) / runs
    mean = float(np.mean(scores))
    assert 0.85 < mean < 1.15, f"{runs} runs of {domain} values: squared errors are {mean} of what is claimed"
    assert 0.93 < np.mean(covered) < 0.97
    assert np.abs(bias).max() < 6 / np.sqrt(runs)


@pytest.mark.parametrize("sketch", [CountMeanSketch, HadamardCountMeanSketch])
def test_shared_cells_are_in_the_standard_errors(sketch: Any) -> None:
    """Few cells, and many people of whom most hold one value: coins alone would explain a fraction of the error."""
    values = np.repeat(np.arange(40), [40_000, *[250] * 39])
    truth, scores, plain = np.bincount(values), [], []
    for salt in range(30):
        way = sketch(40, 6, hashes=16, width=32, salt=salt)
        counts = way.count(way.reports(values))
        estimate = way.estimate(counts, len(values))
        scores.append(((estimate.values - truth) / estimate.standard_errors)[1:])
        plain.append((estimate.values - truth)[1:] ** 2 / way.variance(len(values)))
        squares = float(np.square(truth).sum())
        assert way.variance(len(values), 250, squares) > 2 * way.variance(len(values), 250)
    assert np.mean(plain) > 2
    assert 0.8 < np.mean(np.square(scores)) < 1.25


def test_squares_come_out_of_the_sketch_itself() -> None:
    shares = np.array([[0.5, 0.25, 0.25, 0.0]])
    assert squares_of(shares, np.zeros_like(shares), 100) == pytest.approx((0.375 - 0.25) * 4 / 3 * 10_000)
    assert squares_of(shares, np.ones_like(shares), 100) == 0.0


@pytest.mark.parametrize("name", ["count-mean", "hadamard-mean", "memoised"])
def test_support_is_counted_as_for_each_report_by_itself(name: str) -> None:
    way = MAKERS[name](30, 2)
    payloads = way.reports(np.arange(200) % 30)
    for value in (0, 7, 29):
        supporting = sum(_supports(way, row.tobytes(), value) for row in payloads)
        wanted = (supporting - 200 * float(way.support.other)) / float(way.support.contrast)
        assert way.estimate(way.count(payloads), 200).values[value] == pytest.approx(wanted)


def _supports(way: Any, payload: bytes, value: int) -> bool:
    if isinstance(way, HadamardCountMeanSketch):
        sent = int.from_bytes(payload, "little")
        which, coordinate = divmod(sent // 2, way.width)
        return (cell(value, key(way.salt, which), way.width) & coordinate).bit_count() % 2 == sent % 2
    which, rest = int.from_bytes(payload[:2], "little"), payload[2:]
    if isinstance(way, MemoisedHashing):
        return cell(value, key(way.salt, which), way.cells) == rest[0]
    place = cell(value, key(way.salt, which), way.width)
    return bool(rest[place // 8] >> place % 8 & 1)


def test_points_are_counted_on_hyperplanes_as_one_by_one() -> None:
    for domain, epsilon in ((2, 1), (13, 1), (100, 2), (1000, 3), (3000, 7)):
        way = ProjectiveGeometry(domain, epsilon)
        counts = np.random.default_rng(2).integers(0, 50, way.space.points)
        counts[np.random.default_rng(3).random(len(counts)) > 200 / len(counts)] = 0
        found = way.supported(counts)
        for value in range(0, domain, max(1, domain // 10)):
            on = np.unique(way.space.on_hyperplane(np.full(way.space.on, value), np.arange(way.space.on)))
            assert len(on) == way.space.on
            assert found[value] == counts[on].sum()


@pytest.mark.parametrize("name", [*MAKERS, "prefix", "rappor"])
def test_many_reports_have_the_law_of_one(name: str) -> None:
    """Counts of reports made at once and one by one differ no more than two samples of one law do."""
    way = {"prefix": PrefixTree(2, seeds=4), "rappor": Rappor(4, 2, bits=16, cohorts=4)}.get(name)
    way = (
        way
        or {
            "count-mean": CountMeanSketch(9, 2, hashes=4, width=16),
            "hadamard-mean": HadamardCountMeanSketch(9, 2, hashes=4, width=16),
            "projective": ProjectiveGeometry(9, 2),
            "memoised": MemoisedHashing(9, 4, 2, seeds=4),
        }[name]
    )
    source, people = Seeded(3), 6000
    ones = np.stack([np.frombuffer(way.report(5, source), dtype=np.uint8) for _ in range(people)])
    many = way.reports(np.full(people, 5))
    assert many.shape == ones.shape == (people, way.size)
    assert way.well_formed(many).all()
    assert way.well_formed(ones).all()
    first, second = (way.count(each).ravel().astype(float) for each in (ones, many))
    total = first + second
    spread = np.where(total > people, 2 * people - total, total) + 1.0
    assert (np.abs(first - second) / np.sqrt(spread)).max() < 6
    parts = way.count(many[:1000]) + way.count(many[1000:])
    assert (parts == way.count(many)).all()
    assert not way.count(many[:0]).any()


def test_reports_are_functions_of_words() -> None:
    for way in (
        CountMeanSketch(9, 2),
        HadamardCountMeanSketch(9, 2),
        ProjectiveGeometry(9, 2),
        PrefixTree(2),
        Rappor(4, 2),
    ):
        words = np.random.default_rng(4).integers(0, 2**64, 600, dtype=np.uint64).astype("<u8").tobytes()
        assert way.report(5, Replayed(words)) == way.report(5, Replayed(words))
        with pytest.raises(ArgumentError, match="SRD-C101"):
            way.report(5, Replayed(b""))


def test_foreign_payloads_are_not_well_formed() -> None:
    full = {2: b"\xff\xff", 3: b"\xff\xff\xff", 4: b"\xff" * 4, 34: b"\xff" * 34, 18: b"\xff" * 18}
    for way in (
        CountMeanSketch(9, 2),
        HadamardCountMeanSketch(9, 2, hashes=64),
        ProjectiveGeometry(1000, 2),
        PrefixTree(2),
        Rappor(4, 2),
        MemoisedHashing(9, 4, 2),
    ):
        row = np.frombuffer(full[way.size], dtype=np.uint8)[None]
        assert not way.well_formed(row).any()


def test_words_are_counted_without_a_list() -> None:
    way = CountMeanSketch(WORDS, 4, hashes=64, width=512)
    words = ["sordino", "café", "cafe\N{COMBINING ACUTE ACCENT}", "viola"]
    assert fingerprint(words[1]) == fingerprint(words[2])
    values = np.repeat(fingerprints(words).view(np.int64), [3000, 2000, 1000, 500])
    counts = way.count(way.reports(values))
    found = way.estimate_of(fingerprints(["sordino", "café", "viola", "tuba"]), counts, 6500)
    assert (np.abs(found.values - [3000, 3000, 500, 0]) < 5 * found.standard_errors).all()
    with pytest.raises(ArgumentError, match="SRD-C153"):
        way.estimate(counts, 6500)


def test_places_are_alike_one_by_one_and_at_once() -> None:
    values = np.array([0, 1, 2**64 - 1, 12345], dtype=np.uint64)
    by = keys(9, np.arange(4))
    assert [key(9, which) for which in range(4)] == by.tolist()
    for cells in (2, 8, 55, 1024, 2**31):
        assert [cell(int(v), int(k), cells) for v, k in zip(values, by, strict=True)] == cells_of(
            values, by, cells
        ).tolist()
    assert mixed(0) == 0
    assert mixed(0x9E3779B97F4A7C15) == 0xE220A8397B1DCDAF  # the first number of SplitMix64 from 0
    assert canonical("\ud83d\ude00") == "😀".encode()
    assert canonical("a\ud800") == "a\ufffd".encode()


def test_the_transform_is_the_matrix() -> None:
    rows = np.random.default_rng(5).integers(-9, 9, (3, 16))
    places = np.arange(16)
    matrix = 1 - 2 * (np.bitwise_count(places[:, None] & places) & 1).astype(np.int64)
    assert (transformed(rows) == rows @ matrix).all()


@pytest.mark.parametrize("name", MAKERS)
def test_liars_move_an_estimate_as_far_as_is_said(name: str) -> None:
    """1 % of clients send the payload that is best for one value: within the bound, and at least 0.8 of it."""
    way = MAKERS[name](100, 1)
    people, liars, target = 20_000, 200, 3
    honest = way.reports(np.full(people, 50))
    many = way.reports(np.full(4000, target))
    lie = next(row for row in many if _raises(way, row, target))
    poisoned = honest.copy()
    poisoned[:liars] = lie
    kept = way.estimate(way.count(honest[liars:]), people - liars).values[target]
    shift = way.estimate(way.count(poisoned), people).values[target] - kept  # the same clients, on average, add 0
    bound = float(way.poison().raised) * liars
    assert 0.8 * bound <= shift <= bound * (1 + 1e-9), (shift, bound)


def _raises(way: Any, row: Any, target: int) -> bool:
    if isinstance(way, ProjectiveGeometry):
        return bool(way.supported(way.count(row[None]))[target])
    return _supports(way, row.tobytes(), target)
