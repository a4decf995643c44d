"""Surveys in a service that ask for numbers and words, and the same every day; each is answered over HTTP and shown."""

from __future__ import annotations

import json

import numpy as np
import pytest
from fastapi.testclient import TestClient

from collect.surveys import bodies
from serve.places import OWNER, opened
from serve.polls import POLL
from sordino.collect.participant import survey_from
from sordino.errors import ArgumentError
from sordino.serve.app import create_app
from sordino.serve.surveys import owners

BYTES = {"content-type": "application/octet-stream"}
VALUES, COUNT = "values: [cat, dog, none]\nepsilon: 2", 2000
NUMBER = "number: {low: 0, high: 10%s}\nepsilon: 4"
ASKED = {
    "mean": (NUMBER % "", [6.0], ["mean"], 6.0),
    "variance": (NUMBER % ", what: variance", [4.0, 8.0], ["mean", "variance"], 6.0),
    "distribution": (
        NUMBER % ", what: distribution, steps: 16",
        [2.5, 7.5],
        ["mean", "10% are below", "25% are below", "50% are below", "75% are below", "90% are below"],
        5.0,
    ),
    "words": ("words: {longest: 4}\nepsilon: 8", ["tea", "mate"], ["tea", "mate"], COUNT / 2),
    "every day": (
        VALUES + "\nevery_day: {longitudinal: 4, periods: 1, days: 3}",
        ["cat", "dog"],
        ["cat", "dog", "none"],
        COUNT / 2,
    ),
}


def test_what_is_asked_is_answered_and_shown(tmp_path):
    with opened(tmp_path) as service, TestClient(create_app(service)) as client:
        for name, (text, values, rows, first) in ASKED.items():
            short = name.replace(" ", "_")
            owners.define(service, OWNER, POLL.replace("name: pets", f"name: {short}").replace(VALUES, text))
            owners.begin(service, OWNER, short)
            asked = client.get(f"/api/v1/surveys/{short}").json()
            poll = survey_from(json.loads(asked["spelled"]))  # what a participant in Python answers
            assert poll.digest.hex() == asked["digest"]
            assert client.get(f"/s/{short}").status_code == 200
            codes = np.array([poll.asks.code(value) for value in values], np.int64)
            sent = bodies(poll, np.resize(codes, (COUNT, *codes.shape[1:])))
            taken = client.post(asked["reports"], content=sent.tobytes(), headers=BYTES).json()
            assert taken == {"taken": COUNT, "refused": []}
            live = owners.show(service, OWNER, short)["estimate"]
            closed = owners.close(service, OWNER, short)["estimate"]
            for found in (live, closed):
                assert found["reports"] == COUNT
                assert sorted(row["value"] for row in found["values"]) == sorted(rows)
                one = next(row for row in found["values"] if row["value"] == rows[0])
                assert abs(one["estimate"] - first) <= 6 * one["standard_error"]
                assert all(row["low"] <= row["estimate"] <= row["high"] for row in found["values"])


MISTAKES = [
    "epsilon: 2",
    VALUES + "\nnumber: {low: 0, high: 1}",
    VALUES + "\nway: k-ary\nevery_day: {longitudinal: 4}",
    VALUES + "\nevery_day: {longitudinal: 1}",
    VALUES + "\nevery_day: 4",
    NUMBER % ", colour: red",
    NUMBER % ", what: mode",
    "number: {low: 1, high: 1}\nepsilon: 2",
    "number: 7\nepsilon: 2",
    "number: {low: .nan, high: 1}\nepsilon: 2",
    "words: {longest: 0}\nepsilon: 2",
    "words: {}\nepsilon: 2\nway: k-ary",
    "words: {}\nepsilon: 2\nevery_day: {longitudinal: 4}",
]


def test_mistakes_have_remedies_before_anything_is_charged(tmp_path):
    with opened(tmp_path) as service:
        for text in MISTAKES:
            with pytest.raises(ArgumentError):
                owners.define(service, OWNER, POLL.replace(VALUES, text))
        assert service.ledger.size == 1
