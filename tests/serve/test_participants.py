"""People who answer over HTTP by the Python client: only reports travel, and a strange survey is not answered."""

from __future__ import annotations

import pytest

from serve.browsers import served
from serve.places import OWNER
from serve.polls import POLL, polled
from sordino.collect import participant
from sordino.collect.device import Device
from sordino.errors import ArgumentError, SourceError
from sordino.serve.surveys import owners
from sordino.serve.surveys.at_hand import declared_as

pytestmark = pytest.mark.service


def test_people_answer_by_the_page_s_address(tmp_path):
    with polled(tmp_path, POLL + "intake: codes\n") as service, served(service) as address:
        codes = owners.new_codes(service, OWNER, "pets", 10)
        poll = participant.asked_at(f"{address}/s/pets")
        assert poll.digest == declared_as(service.house, "pets").survey.digest
        for each, code in enumerate(codes):
            report = Device(tmp_path / f"{each}.json").report(poll, "dog")
            participant.send(report, f"{address}/s/pets", code=code)
            participant.send(report, f"{address}/s/pets", code=code)
        with pytest.raises(ArgumentError, match="SRD-C712"):
            participant.send(Device(tmp_path / "new.json").report(poll, "cat"), f"{address}/s/pets", code=codes[0])
        assert owners.close(service, OWNER, "pets")["estimate"]["reports"] == 10
        with pytest.raises(ArgumentError, match="SRD-C705"):
            participant.send(Device(tmp_path / "late.json").report(poll, "cat"), f"{address}/s/pets", code="x")
        with pytest.raises(ArgumentError, match="SRD-S004"):
            participant.asked_at(f"{address}/s/nothing")
    with pytest.raises(SourceError, match="SRD-C715"):
        participant.asked_at(f"{address}/s/pets")


def test_a_survey_that_is_not_what_it_says_is_not_answered(tmp_path):
    with polled(tmp_path) as service:
        public = declared_as(service.house, "pets").survey.public()
    assert participant.survey_from(public).public() == public
    lie = public["randomizer"]["lie"]
    for wrong in (
        public | {"epsilon": "1"},
        public | {"randomizer": public["randomizer"] | {"lie": str(int(lie) - 1)}},
        public | {"randomizer": public["randomizer"] | {"protocol": "other"}},
        public | {"epsilon": "1/0"},
        public | {"epsilon": "1e999999999"},
        public | {"trust": "two-servers"},
        public | {"values": ["cat"]},
        public | {"more": 1},
        public | {"version": 2},
        {name: value for name, value in public.items() if name != "days"},
        {},
    ):
        with pytest.raises(ArgumentError):
            participant.survey_from(wrong)


@pytest.mark.parametrize(
    "url", ["ftp://x/s/pets", "http://example.org/s/pets", "file:/etc/passwd", "pets", "https://x/"]
)
def test_reports_travel_by_https_alone_but_on_this_machine(url):
    with pytest.raises(ArgumentError, match="SRD-A001"):
        participant.asked_at(url)
