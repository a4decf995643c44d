"""Reports as they travel: one length, nothing but the payload depends on the value, and what is wrong has a code."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collect.surveys import PETS, bodies, pets
from sordino.collect.coins import Replayed
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.surveys import survey
from sordino.collect.wire import HEADER, Report, parsed, read_bytes, read_each, read_plain, report_of
from sordino.errors import ArgumentError

POLL = pets()


def test_a_report_is_a_function_of_survey_value_and_random_bytes():
    random = bytes(range(24))
    report = report_of(POLL, "dog", Replayed(random))
    assert report.id == random[:16]
    assert report.payload == KAry(domain=3, epsilon=2).report(1, Replayed(random[16:]))
    assert report.to_bytes() == b"\x01" + POLL.digest + random[:16] + report.payload
    assert Report.from_bytes(report.to_bytes()) == Report.from_json(report.to_json()) == report


@given(st.binary(min_size=24, max_size=24))
def test_all_values_have_one_length_and_one_id(random):
    found = [report_of(POLL, value, Replayed(random)) for value in PETS]
    assert len({len(each.to_bytes()) for each in found}) == len({len(each.to_json()) for each in found}) == 1
    assert len({each.id for each in found}) == 1


def test_the_form_of_a_text_does_not_matter_and_no_other_text_will_do():
    random = bytes(24)
    assert report_of(POLL, "hén", Replayed(random)) == report_of(POLL, "hén", Replayed(random))
    for wrong in ("owl secret", 1, None, b"cat", ["cat"]):
        with pytest.raises(ArgumentError) as refusal:
            report_of(POLL, wrong, Replayed(random))
        assert refusal.value.code == "SRD-C104"
        assert "owl" not in str(refusal.value)


def test_bytes_are_read_together_and_wrong_ones_are_told_by_place():
    rows = bodies(POLL, np.arange(300) % 3)
    assert np.array_equal(read_bytes(POLL, rows.tobytes()).records, rows[:, 33:])
    later = pets(round=2)
    rows[7, 0] = 2
    rows[11, 1:33] = np.frombuffer(later.digest, np.uint8)
    rows[13, 1] ^= 1
    rows[17, HEADER] = 3
    read = read_bytes(POLL, rows.tobytes(), former=(later.digest,))
    assert read.refused == ((7, "SRD-C701"), (11, "SRD-C705"), (13, "SRD-C703"), (17, "SRD-C704"))
    assert len(read.records) == 296


@pytest.mark.parametrize("body", [b"", b"\x01", bytes(49), bytes(51), bytes(50 * 10_001)])
def test_bytes_that_are_no_whole_number_of_reports_are_refused(body):
    with pytest.raises(ArgumentError, match="SRD-C702"):
        read_bytes(POLL, body)


def test_json_is_read_strictly():
    good = report_of(POLL, "cat", Replayed(bytes(24))).to_plain()
    other = report_of(survey("wide", KAry(domain=300, epsilon=2)), 5, Replayed(bytes(24))).to_plain()
    wrong = [
        ({}, "SRD-C701"),
        (None, "SRD-C701"),
        ([good], "SRD-C701"),
        (good | {"version": 2}, "SRD-C701"),
        (good | {"version": True}, "SRD-C701"),
        (good | {"version": 1.0}, "SRD-C701"),
        (good | {"more": 1}, "SRD-C701"),
        (good | {"payload": ""}, "SRD-C701"),
        (good | {"payload": "A"}, "SRD-C701"),
        (good | {"payload": "AB"}, "SRD-C701"),  # spelled otherwise than those bytes are
        (good | {"payload": "AA=="}, "SRD-C701"),
        (good | {"payload": "é"}, "SRD-C701"),
        (good | {"id": "AAAA"}, "SRD-C701"),
        (good | {"payload": "AAAA"}, "SRD-C702"),
        (good | {"payload": "Aw"}, "SRD-C704"),
        (other, "SRD-C703"),
    ]
    listed = [good, *(each for each, _ in wrong)]
    read = read_plain(POLL, listed)
    assert read.refused == tuple((place + 1, code) for place, (_, code) in enumerate(wrong))
    assert len(read.records) == 1
    assert read_plain(POLL, good).refused == ()


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200)))
def test_whatever_comes_is_read_or_refused(garbage):
    if isinstance(garbage, bytes):
        found = read_each(POLL, [garbage])
    else:
        try:
            plain = parsed(garbage)
        except ArgumentError:
            return
        found = read_plain(POLL, [plain])
    assert len(found.records) == 0
    assert {code for _, code in found.refused} <= {"SRD-C701", "SRD-C702", "SRD-C703"}


def test_deep_json_is_refused():
    with pytest.raises(ArgumentError, match="SRD-C701"):
        parsed("[" * 100_000)
    assert json.loads(report_of(POLL, "cat", Replayed(bytes(24))).to_json())["version"] == 1
