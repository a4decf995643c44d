"""Vectors for other languages: they replay, draw what they say, and one of them is computed by other means here."""

from __future__ import annotations

import hashlib
import json

import mpmath

from sordino.collect.coins import Replayed
from sordino.collect.participant import survey_from
from sordino.collect.vectors import vectors
from sordino.collect.wire import report_of


def test_vectors_replay_from_what_they_hold():
    found = list(vectors(of_each=1))
    assert len(found) > 60
    for each in found:
        asked = survey_from(each["survey"])
        assert asked.digest.hex() == each["digest"]
        assert (
            report_of(asked, each["value"], Replayed(bytes.fromhex(each["random"]))).to_bytes().hex() == each["report"]
        )
        spelled = json.dumps(each["survey"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert hashlib.sha256(spelled.encode()).hexdigest() == each["digest"]


def test_k_ary_vectors_by_other_means():
    """The report is version, digest, the first 16 bytes, and the word after them against ⌈2⁶⁴/(e^ε + k − 1)⌉."""
    checked = 0
    for each in vectors():
        way = each["survey"]["randomizer"]
        if way["protocol"] != "k-ary":
            continue
        checked += 1
        domain, epsilon = way["domain"], each["survey"]["epsilon"]
        with mpmath.workdps(60):
            lie = int(mpmath.ceil(mpmath.mpf(2) ** 64 / (mpmath.exp(mpmath.mpf(eval(epsilon))) + domain - 1)))  # noqa: S307
        assert str(lie) == way["lie"]
        random = bytes.fromhex(each["random"])
        values = each["survey"]["values"]
        code = each["value"] if values is None else values.index(each["value"])
        place = int.from_bytes(random[16:24], "little") // lie
        told = code if place >= domain - 1 else (code + 1 + place) % domain
        size = 1 if domain <= 256 else 2
        report = b"\x01" + bytes.fromhex(each["digest"]) + random[:16] + told.to_bytes(size, "little")
        assert report.hex() == each["report"]
        assert len(random) == 24
    assert checked == 48
