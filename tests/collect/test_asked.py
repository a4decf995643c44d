"""Whatever is asked, participants build the same survey from what it says of itself, and answers come to estimates."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sordino import collect
from sordino.collect.fingerprint import fingerprints
from sordino.collect.frequencies.count_mean import CountMeanSketch
from sordino.collect.frequencies.hadamard_mean import HadamardCountMeanSketch
from sordino.collect.participant import survey_from
from sordino.collect.surveys import survey
from sordino.collect.wire import payloads_of, read_each
from sordino.errors import ArgumentError

ASKED: dict[str, tuple[Any, Any]] = {
    "values": (collect.frequency(["tea", "hén"], epsilon="0.5"), "tea"),
    "codes": (collect.frequency(300, epsilon=1), 7),
    "every day": (collect.every_day(["a", "b"], longitudinal=2, epsilon=1, periods=2, days=3), "b"),
    "mean": (collect.number(0, 10, epsilon="0.1"), 3.5),
    "mean by a way": (collect.number("-0.1", 10, epsilon=1, way="local-laplace"), -5),
    "distribution": (collect.number("0.1", 97.3, epsilon=1, what="distribution"), 50),
    "variance": (collect.number(0, 10, epsilon=2, what="variance"), 9),
    "several": (collect.several_numbers({"a": (0, 1), "b": ("0.1", 2)}, epsilon=1), {"a": 0.5, "b": 1}),
    "classes": (collect.number_by_class(0, 1, epsilons={"x": 1, "y": "0.3"}), ("y", 0.5)),
    "vector": (collect.vector(3, epsilon=2, radius="2.5"), [1.0, -0.5, 0.25]),
    "words": (collect.words(epsilon=4), "hello"),
    "words in steps": (collect.PrefixTree(3, longest=5, lengths=(2, 5), shares=("0.3", "0.7")), "hén"),  # type: ignore[arg-type]
    "rappor": (collect.words(way=collect.Rappor(6, 2)), "hello"),  # type: ignore[arg-type]
    "rappor every day": (collect.every_day(collect.Rappor(6, 2), periods=2, days=3), "hello"),  # type: ignore[arg-type]
    "sketch": (collect.words(way=CountMeanSketch(2**64, 2)), "hello"),  # type: ignore[arg-type]
    "hadamard sketch": (HadamardCountMeanSketch(2**64, 2, salt=2**63 + 5), "hello"),  # type: ignore[arg-type]
}

ALONE = ("values", "codes", "every day", "mean", "mean by a way", "distribution", "vector", "words", "words in steps")
"""Of which a single report gives an estimate."""


@pytest.mark.parametrize("name", ASKED)
def test_the_same_survey_is_built_from_what_it_says(name: str, tmp_path: Path) -> None:
    asks, value = ASKED[name]
    poll = survey("poll", asks, days=3, question="What?")
    found = survey_from(json.loads(poll.spelled))
    assert found.digest == poll.digest
    assert found.price() == poll.price()
    report = collect.Device(tmp_path / "device.json").report(found, value)
    read = read_each(poll, [report.to_bytes()])
    assert read.refused == ()
    if name in ALONE:
        assert poll.asks.estimate(poll.randomizer.count(payloads_of(read.records)), 1) is not None


@pytest.mark.parametrize("name", ASKED)
def test_a_survey_that_says_something_else_is_not_answered(name: str) -> None:
    """Each of its words, one by one, in another form or with another value."""
    public = json.loads(survey("poll", ASKED[name][0], days=3).spelled)

    def changed(given: Any) -> list[Any]:
        if isinstance(given, dict):
            return [given | {key: each} for key, inner in given.items() for each in changed(inner)]
        if isinstance(given, list):
            return [
                [*given[:at], each, *given[at + 1 :]] for at, inner in enumerate(given[:3]) for each in changed(inner)
            ]
        return [None, -1, [], {}, "1/0", "nan", "1" * 70, 10**30]

    for other in changed({key: public[key] for key in public if key not in ("name", "question", "unit")}):
        whole = public | other
        found = None
        with suppress(ArgumentError):
            found = survey_from(whole)
        assert found is None or found.public() == whole


def test_words_are_found_and_told() -> None:
    spoken = np.repeat(["basque", "breton", "frisian"], [9000, 5000, 3000])
    tree = collect.words(epsilon=4)
    found = tree.estimate(tree.randomizer.count(tree.randomizer.reports(tree.codes(spoken))), len(spoken))
    assert found.words[:2] == ("basque", "breton")
    for way in (collect.Rappor(6, 3), CountMeanSketch(2**64, 3)):  # type: ignore[arg-type]
        asks = collect.words(way=way, candidates=["frisian", "basque", "sorbian"])
        codes = fingerprints(spoken.tolist()).view(np.int64)
        told = asks.estimate(way.count(way.reports(codes)), len(spoken))
        low, high = told.estimate.intervals(0.999999).T
        assert (low <= [3000, 9000, 0]).all()
        assert (high >= [3000, 9000, 0]).all()
        with pytest.raises(ArgumentError, match="SRD-C158"):
            collect.words(way=way).estimate(way.count(way.reports(codes)), len(spoken))


def test_mistakes_about_words_have_remedies() -> None:
    for given in ({}, {"epsilon": 1, "way": collect.PrefixTree(1)}, {"way": collect.frequency(3, epsilon=1)}):  # type: ignore[arg-type]
        with pytest.raises(ArgumentError):
            collect.words(**given)
    with pytest.raises(ArgumentError, match="SRD-C158"):
        collect.words(epsilon=1, candidates=["a", "a"])
    with pytest.raises(ArgumentError, match="SRD-C104"):
        collect.words(epsilon=1).code(5)
    for given in ({"longitudinal": 3}, {"epsilon": 1}, {}):
        with pytest.raises(ArgumentError, match="SRD-A003"):
            collect.every_day(["a", "b"], **given)
    with pytest.raises(ArgumentError, match="SRD-A003"):
        collect.every_day(collect.Rappor(6, 2), epsilon=1)  # type: ignore[arg-type]
