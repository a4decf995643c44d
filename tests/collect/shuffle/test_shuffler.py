"""Shuffled trust: envelopes, a shuffler that waits, mixes and forgets, and a batch that comes from nobody else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from collect.surveys import KEYS, SHUFFLED, bodies, files_of, pets
from sordino.accounting.account import unlimited
from sordino.collect.round import open_round
from sordino.collect.shuffle.arrival import Arrival
from sordino.collect.shuffle.envelope import enveloped, length, unwrapped
from sordino.collect.shuffle.shuffler import Shuffler
from sordino.collect.surveys import Survey
from sordino.collect.wire import Report
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, SourceError

ANALYSER, SHUFFLER = KEYS
COUNT = 20


def asked(**words: object) -> Survey:
    return pets(**{**SHUFFLED, "batch": COUNT, **words})


def reports(poll: Survey, count: int = COUNT) -> list[bytes]:
    return list(map(bytes, bodies(poll, np.arange(count) % 3)))


def envelopes(poll: Survey, given: list[bytes]) -> list[bytes]:
    return [enveloped(poll, Report.from_bytes(each)) for each in given]


def test_a_batch_goes_its_way_and_nothing_else_does(tmp_path: Path) -> None:
    poll = asked()
    sent = reports(poll)
    shuffler = Shuffler(poll, SHUFFLER, tmp_path / "shuffler", wait_for=COUNT)
    arrival = Arrival(poll, ANALYSER, tmp_path / "analyser")
    parts: list[bytes] = []

    def send(part: bytes) -> None:
        parts.append(part)
        arrival.take(part)

    made = envelopes(poll, sent)
    assert {len(each) for each in made} == {length(poll)}
    for each in made[:-1]:
        assert shuffler.take(each) == 1
        assert not shuffler.forward(send)  # nothing leaves before the batch is whole
    assert shuffler.take(made[0] + made[1]) == 2  # they came before, and are acknowledged
    assert not shuffler.forward(send)
    assert not arrival.whole
    assert shuffler.take(made[-1]) == 1
    assert shuffler.forward(send)
    assert shuffler.sent
    assert arrival.whole
    assert sorted(arrival.reports()) == sorted(sent)
    assert arrival.reports() != sent  # 1 in 20! orders is that of arrival
    shuffler.close()
    assert {each.name for each in (tmp_path / "shuffler").iterdir()} == {"lock", "closed", "sent"}  # it forgot
    late = Shuffler(poll, SHUFFLER, tmp_path / "shuffler", wait_for=COUNT)
    with pytest.raises(ArgumentError, match="SRD-C705"):
        late.take(envelopes(poll, reports(poll, 1))[0])
    late.close()
    running = open_round(poll, budget=DataAccount(poll, unlimited("a test")))
    assert running.take_shuffled(arrival).reports == COUNT
    arrival.forget()
    assert not arrival.whole
    assert not any((tmp_path / "analyser").rglob("*.*"))


def test_every_order_is_as_likely(tmp_path: Path) -> None:
    """Of 120 batches of two about half begin with the first: 60 ± 27 at five standard deviations; 120 if not mixed."""
    poll = asked(batch=2)
    first = np.zeros(2)
    for each in range(120):
        sent = reports(poll, 2)
        shuffler = Shuffler(poll, SHUFFLER, tmp_path / f"s{each}")
        arrival = Arrival(poll, ANALYSER, tmp_path / f"a{each}")
        shuffler.take(b"".join(envelopes(poll, sent)))
        assert shuffler.forward(arrival.take)
        shuffler.close()
        first[sent.index(arrival.reports()[0])] += 1
    assert abs(first[0] - 60) < 5 * np.sqrt(30)


def test_a_restart_goes_on_and_a_silent_analyser_is_waited_for(tmp_path: Path) -> None:
    poll = asked()
    sent = reports(poll)
    made = envelopes(poll, sent)
    shuffler = Shuffler(poll, SHUFFLER, tmp_path / "shuffler")
    shuffler.take(b"".join(made[:7]))
    shuffler.close()
    shuffler = Shuffler(poll, SHUFFLER, tmp_path / "shuffler")
    shuffler.take(b"".join(made))

    def silent(_: bytes) -> None:
        raise SourceError("nobody is there", "SRD-C715")

    with pytest.raises(SourceError):
        shuffler.forward(silent)
    shuffler.close()
    assert not list((tmp_path / "shuffler").glob("*.segment"))  # the order of arrival is gone already
    arrival = Arrival(poll, ANALYSER, tmp_path / "analyser")
    again = Shuffler(poll, SHUFFLER, tmp_path / "shuffler")
    assert again.full
    assert again.forward(arrival.take)
    assert again.forward(silent)  # once
    again.close()
    assert sorted(arrival.reports()) == sorted(sent)


def test_a_batch_that_nobody_waits_for_is_forgotten(tmp_path: Path) -> None:
    poll = asked()
    shuffler = Shuffler(poll, SHUFFLER, tmp_path)
    shuffler.take(b"".join(envelopes(poll, reports(poll, 3))))
    shuffler.forget()
    shuffler.close()
    assert shuffler.sent
    assert {each.name for each in tmp_path.iterdir()} == {"lock", "closed", "sent"}


def test_what_is_no_envelope_is_refused_and_not_counted(tmp_path: Path) -> None:
    poll, other = asked(), asked(round=2)
    shuffler = Shuffler(poll, SHUFFLER, tmp_path)
    good = envelopes(poll, reports(poll, 1))[0]
    foreign = envelopes(other, reports(other, 1))[0]
    bad = good[:-1] + bytes([good[-1] ^ 1])
    for body, code in ((foreign, "SRD-C717"), (bad, "SRD-C717"), (good + bad, "SRD-C717"), (b"", "SRD-C702")):
        with pytest.raises(ArgumentError, match=code):
            shuffler.take(body)
    for body in (good[1:], good + b"x", bytes(1 << 20)):
        with pytest.raises(ArgumentError, match=r"SRD-C70[12]|SRD-C717"):
            shuffler.take(body)
    assert shuffler.waiting == 0
    shuffler.close()
    for key, words in ((ANALYSER, {}), (SHUFFLER, {"parties": ()})):
        with pytest.raises(ArgumentError, match="SRD-C718"):
            Shuffler(asked(**words), key, tmp_path / "other")
    with pytest.raises(ArgumentError, match="SRD-A002"):
        Shuffler(poll, SHUFFLER, tmp_path, wait_for=COUNT - 1)


def test_neither_party_sees_what_is_the_other_s(tmp_path: Path) -> None:
    poll = asked()
    (report,) = reports(poll, 1)
    (made,) = envelopes(poll, [report])
    inner = unwrapped(poll, SHUFFLER, made)
    assert inner is not None
    assert report[33:] not in made + inner  # neither id nor payload
    assert unwrapped(poll, ANALYSER, made) is None
    shuffler = Shuffler(poll, SHUFFLER, tmp_path)
    shuffler.take(made)
    shuffler.close()
    assert report[33:] not in files_of(tmp_path)


def test_a_batch_comes_from_the_survey_s_shuffler_alone(tmp_path: Path) -> None:
    poll = asked()
    arrival = Arrival(poll, ANALYSER, tmp_path / "analyser")
    parts: list[bytes] = []
    for place in ("one", "two"):
        shuffler = Shuffler(poll, SHUFFLER, tmp_path / place)
        shuffler.take(b"".join(envelopes(poll, reports(poll))))
        shuffler.forward(parts.append)
        shuffler.close()
    for wrong in (b"", parts[0][:-1], b"\x02" + parts[0][1:], parts[0][:-1] + bytes([parts[0][-1] ^ 1]), bytes(500)):
        with pytest.raises(ArgumentError, match="SRD-C718"):
            arrival.take(wrong)
    arrival.take(parts[0])
    arrival.take(parts[0])  # once
    with pytest.raises(ArgumentError, match="SRD-C705"):
        arrival.take(parts[1])  # another batch, once there is one
    with pytest.raises(ArgumentError, match="SRD-C718"):
        Arrival(poll, SHUFFLER, tmp_path / "analyser")


def test_a_large_batch_travels_in_parts(tmp_path: Path) -> None:
    from sordino.collect.shuffle import parts as module

    poll = asked()
    shared = module.secret(poll, SHUFFLER, 0)
    width = length(poll) - 48
    body = bytes(width * 11_000)
    made = list(module.split(poll, shared, bytes(16), body))
    assert len(made) > 1
    read = [module.read(poll, module.secret(poll, ANALYSER, 1), each) for each in made]
    assert b"".join(each.body for each in read if each) == body
    assert [each.number for each in read if each] == list(range(len(made)))
    arrival = Arrival(poll, ANALYSER, tmp_path)
    for each in made[::-1]:
        assert not arrival.whole
        arrival.take(each)
    assert arrival.whole
    assert arrival.reports() == []  # nothing of it was sealed for the analyser
