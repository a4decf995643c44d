"""Words that nobody listed, by a prefix tree, and words from RAPPOR's bits: found, with intervals, and no ghosts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from collect.randomizers import Seeded
from sordino.collect.fingerprint import cell, fingerprints, key
from sordino.collect.frequencies.heavy_words import heavy_words
from sordino.collect.frequencies.prefix_tree import PrefixTree
from sordino.collect.frequencies.rappor import Rappor
from sordino.collect.frequencies.rappor_decoding import decode
from sordino.errors import ArgumentError


@pytest.fixture(autouse=True)
def _repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Seeded(11)
    for module in ("prefix_tree", "k_ary", "rappor"):
        monkeypatch.setattr(f"sordino.collect.frequencies.{module}.SOURCE", source)
    monkeypatch.setattr("sordino.noise.planes.SOURCE", source)


def _words(seed: int, count: int) -> list[str]:
    draw = np.random.default_rng(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(chr(97 + letter) for letter in draw.integers(0, 26, draw.integers(1, 9)))] = None
    return list(words)


def _held(seed: int, count: int, people: int) -> Any:
    weights = 1 / np.arange(1, count + 1)
    return np.random.default_rng(seed).choice(count, people, p=weights / weights.sum())


def _f1(seed: int, words: int, people: int, **shape: Any) -> float:
    named = _words(seed, words)
    tree = PrefixTree(4, salt=seed, **shape)
    held = _held(seed, words, people)
    codes = np.array([tree.code(word) for word in named])
    found = heavy_words(tree, tree.count(tree.reports(codes[held]))).top(20)
    truly = {named[place] for place in np.argsort(-np.bincount(held, minlength=words), kind="stable")[:20].tolist()}
    return 2 * len(truly & set(found.words)) / (20 + len(found.words))


def test_the_most_frequent_words_are_found() -> None:
    assert _f1(1, 10_000, 400_000, seeds=512) >= 0.8


@pytest.mark.long
def test_the_most_frequent_of_a_hundred_thousand_words_are_found() -> None:
    assert np.mean([_f1(seed, 10**5, 10**6) for seed in range(5)]) >= 0.85


def test_estimates_of_words_are_as_far_off_as_is_said() -> None:
    tree = PrefixTree(3, alphabet="abc", longest=4, seeds=2**14)
    words = ["abca", "bb", "cabc", "a"]
    values = np.repeat([tree.code(word) for word in words], [20_000, 9_000, 7_000, 4_000])
    truth = dict(zip(words, [20_000, 9_000, 7_000, 4_000], strict=True))
    scores, foretold = [], []
    for salt in range(40):
        tree = PrefixTree(3, alphabet="abc", longest=4, seeds=2**14, salt=salt)
        found = heavy_words(tree, tree.count(tree.reports(values)))
        assert set(words) <= set(found.words)
        assert list(found.estimate.values) == sorted(found.estimate.values, reverse=True)
        for word, value, error in zip(found.words, found.estimate.values, found.estimate.standard_errors, strict=True):
            if word in truth:
                scores.append((value - truth[word]) / error)
                others = sum(count**2 for count in truth.values()) - truth[word] ** 2
                foretold.append((value - truth[word]) ** 2 / tree.variance(40_000, truth[word], others))
    assert abs(np.mean(scores)) < 0.5
    assert 0.75 < np.mean(np.square(scores)) < 1.29
    assert 0.75 < np.mean(foretold) < 1.29


def test_noise_alone_finds_no_words() -> None:
    """Everyone holds another word: nothing stands out."""
    tree = PrefixTree(2, seeds=256)
    values = np.random.default_rng(3).integers(0, tree.domain, 50_000)
    assert heavy_words(tree, tree.count(tree.reports(values)), false_alarm=1e-4).words == ()


def test_no_reports_find_no_words() -> None:
    tree = PrefixTree(2, seeds=16)
    nothing = tree.count(tree.reports(np.empty(0, dtype=np.int64)))
    assert heavy_words(tree, nothing).words == ()


def test_any_word_has_a_code() -> None:
    tree = PrefixTree(1)
    for word in ("", "a", "zzzzzzzz", "sordino"):
        assert tree.word(tree.code(word)) == word
    assert tree.word(tree.code("sordinissimo")) == "sordinis"
    assert tree.code("naïve") == tree.code("7") == tree.code("") == 0
    assert len({len(tree.report(tree.code(word), Seeded(1))) for word in ("", "a", "zzzzzzzz", "7" * 99)}) == 1


def test_levels_are_drawn_as_often_as_is_said() -> None:
    tree = PrefixTree(1, lengths=(2, 5, 8), shares=("0.2", "0.3", "0.5"))
    seen = tree.count(tree.reports(np.zeros(30_000, dtype=np.int64))).sum(axis=(1, 2))
    assert np.abs(seen - [6000, 9000, 15_000]).max() < 6 * np.sqrt(7500)
    assert tree.limits == (int(Fraction(1, 5) * 2**64), 2**63)


def test_steps_too_wide_to_look_at_are_refused() -> None:
    tree = PrefixTree(1, lengths=(8,), seeds=16)
    with pytest.raises(ArgumentError, match="SRD-C157"):
        heavy_words(tree, tree.count(tree.reports(np.zeros(10, dtype=np.int64))))


def test_liars_at_the_last_level_stay_within_the_bound() -> None:
    tree = PrefixTree(2, alphabet="ab", longest=2, lengths=(1, 2), seeds=64)
    people, liars = 40_000, 400
    honest = tree.reports(np.full(people, tree.code("aa")))
    bad = tree.code("bb")
    lie = next(row for row in _last(tree, tree.reports(np.full(3000, bad))) if _told(tree, row, bad))
    poisoned = honest.copy()
    poisoned[:liars] = lie
    shift = _raw(tree, poisoned, bad) - _raw(tree, honest[liars:], bad)
    bound = tree.poison().shift(liars)
    assert 0.8 * bound <= shift <= bound * (1 + 1e-9)


def _last(tree: PrefixTree, rows: Any) -> Any:
    return rows[rows[:, 0] == len(tree.lengths) - 1]


def _told(tree: PrefixTree, row: Any, code: int) -> bool:
    seed = int(row[1]) + 256 * int(row[2])
    return cell(code, key(tree.salt, (len(tree.lengths) - 1) * tree.seeds + seed), tree.cells) == int(row[3])


def _raw(tree: PrefixTree, payloads: Any, code: int) -> float:
    last = _last(tree, payloads)
    supports = sum(_told(tree, row, code) for row in last)
    plain = tree.support
    return float((supports - len(last) * plain.other) / plain.contrast / tree.shares[-1])


def test_rappor_finds_words_and_no_ghosts() -> None:
    """Over salts: errors as foretold, 95 % covered, all frequent words significant, nobody's words almost never."""
    names = [f"word {place}" for place in range(120)]
    ghosts = [f"ghost {place}" for place in range(60)]
    held = _held(5, len(names), 40_000)
    values = fingerprints(names).view(np.int64)[held]
    candidates = names[:60] + ghosts  # half of the words are on nobody's list
    truth = np.append(np.bincount(held, minlength=len(names))[:60], np.zeros(60))
    covered, scores, alarms = [], [], 0
    for salt in range(20):
        way = Rappor(6, 3, salt=salt)
        decoded = decode(way, way.count(way.reports(values)), candidates)
        low, high = decoded.estimate.intervals().T
        covered.append((low <= truth) & (truth <= high))
        scores.append((decoded.estimate.values - truth) ** 2 / way.variance(len(values)))
        alarms += bool(decoded.significant[60:].any())
        assert decoded.significant[:3].all()
        assert decoded.found()[0] == names[0]
    assert 0.93 < np.mean(covered) < 0.97
    assert 0.85 < np.mean(scores) < 1.2
    assert alarms <= 4


def test_liars_move_decoded_words_as_far_as_is_said() -> None:
    """1 % of clients who hold one word send, in the best cohort, all bits that lower it and no other."""
    way, liars, word = Rappor(6, 3, bits=32, cohorts=4), 200, 3
    names = [f"w{place}" for place in range(10)]
    values = fingerprints(names).view(np.int64)[np.arange(20_000) % 9]
    honest = way.reports(values)
    counts = way.count(honest[liars:])
    bound = decode(way, way.count(honest), names).poison.shift(liars)

    def told(cohort: int, bits: Any) -> float:
        poisoned = counts.copy()
        poisoned[cohort] += liars * np.append(1, bits)
        return float(decode(way, poisoned, names).estimate.values[word])

    without = float(decode(way, counts, names).estimate.values[word])
    shifts = []
    for cohort in range(4):
        nothing = told(cohort, np.zeros(32, np.int64))
        lowers = np.array([told(cohort, each) < nothing for each in np.eye(32, dtype=np.int64)])
        shifts.append(without + liars - told(cohort, lowers.astype(np.int64)))  # honest, they count
    assert 0.8 * bound < max(shifts) < 1.05 * bound, (shifts, bound)


def test_candidates_that_cannot_be_told_apart_are_refused() -> None:
    way = Rappor(6, 3, bits=8, cohorts=2)
    counts = way.count(way.reports(np.arange(500)))
    for names in ([], ["a", "a"], [f"n{place}" for place in range(9)]):
        with pytest.raises(ArgumentError, match="SRD-C158") as refusal:
            decode(way, counts, names)
        assert "n0" not in str(refusal.value)
    with pytest.raises(ArgumentError, match="SRD-C102"):
        decode(way, counts * 0, ["a"])
