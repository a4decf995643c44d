"""Two servers collect one survey: the exact sum but for both noises, whatever is sent, killed or asked again."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import sordino as so
from collect.surveys import KEYS, PETS, TWO, files_of, pets
from sordino.accounting.work import Work
from sordino.collect.intake import Intake, seal
from sordino.collect.kept import keep
from sordino.collect.plan import plan_of
from sordino.collect.prio3 import NoisedShare
from sordino.collect.sealing import PartyKey
from sordino.collect.surveys import Survey
from sordino.collect.two_servers.helping import Helper
from sordino.collect.two_servers.leader import Answer, added_up, estimate_of, put_together
from sordino.collect.two_servers.messages import heard, role_of, spoken
from sordino.collect.wire import HEADER, read_each, report_of
from sordino.errors import ArgumentError, SourceError
from sordino.noise.keystream import SOURCE

LEADER, HELPER = KEYS


def asked(**words: object) -> Survey:
    return pets(**{"trust": "two-servers", "parties": TWO, "epsilon": 1, **words})


def made(poll: Survey, count: int, first: int = 0) -> list[bytes]:
    return [report_of(poll, PETS[(first + each) % 3], SOURCE).to_bytes() for each in range(count)]


def begun(poll: Survey) -> Work:
    return so.unlimited("a test").begin(plan_of(poll))


def kept(poll: Survey, folder: Path, bodies: list[bytes]) -> Path:
    intake = Intake(folder, poll.digest, poll.randomizer)
    intake.take(read_each(poll, bodies).records)
    intake.end()
    seal(folder)
    return keep(folder, poll.digest, poll.randomizer)


def collected(poll: Survey, folder: Path, bodies: list[bytes]) -> tuple[Answer, Helper, Path]:
    reports = kept(poll, folder / "leader", bodies)
    helper = Helper(poll, HELPER, folder / "helper", begun(poll))
    total = added_up(poll, LEADER, reports, helper.answer)
    return put_together(poll, LEADER, total, begun(poll), helper.answer), helper, reports


def test_two_servers_find_the_counts_with_both_noises(tmp_path: Path) -> None:
    poll = asked()
    answer, _, _ = collected(poll, tmp_path, made(poll, 700))  # two chunks
    assert answer.reports == 700
    found = estimate_of(poll, answer.to_json())
    r = math.exp(-1 / 2)
    assert found.standard_errors[0] == pytest.approx(math.sqrt(2 * 2 * r / (1 - r) ** 2), rel=1e-9)
    assert np.abs(found.values - [234, 233, 233]).max() < 90  # e^(−90/2)
    assert found.values.tolist() != [234, 233, 233] or answer.values  # whole numbers
    assert all(isinstance(each, int) for each in answer.values)


def test_the_noise_is_that_of_two_servers_and_not_another(tmp_path: Path) -> None:
    """400 values of variance v: their mean square is within 5·√(5.5/400) of v, and 0.7² and 1.3² of it are not."""
    poll = asked(name="many")
    reports = kept(poll, tmp_path / "leader", made(poll, 6))
    found = []
    for each in range(134):
        helper = Helper(poll, HELPER, tmp_path / f"helper{each}", begun(poll))
        total = added_up(poll, LEADER, reports, helper.answer)
        found += list(np.array(put_together(poll, LEADER, total, begun(poll), helper.answer).values) - 2)
    r = math.exp(-1 / 2)
    ratio = float(np.mean(np.square(found))) / (4 * r / (1 - r) ** 2)
    assert 0.58 < ratio < 1.6, (len(found), ratio)


def test_collecting_again_returns_the_stored_noised_share(tmp_path: Path) -> None:
    poll = asked()
    reports = kept(poll, tmp_path / "leader", made(poll, 30))
    own, other = begun(poll), begun(poll)
    answers = []
    for _ in range(3):  # each by new objects, as after a restart
        helper = Helper(poll, HELPER, tmp_path / "helper", other)
        total = added_up(poll, LEADER, reports, helper.answer)
        answers.append(put_together(poll, LEADER, total, own, helper.answer))
    assert answers[0] == answers[1] == answers[2]


def test_the_helper_answers_as_before_when_its_round_is_over(tmp_path: Path) -> None:
    poll = asked()
    reports = kept(poll, tmp_path / "leader", made(poll, 30))
    own, other = begun(poll), begun(poll)
    helper = Helper(poll, HELPER, tmp_path / "helper", other)
    total = added_up(poll, LEADER, reports, helper.answer)
    answer = put_together(poll, LEADER, total, own, helper.answer)
    settled = NoisedShare.from_json(other.recorded(1) or b"").to_json()
    over = Helper(poll, HELPER, tmp_path / "helper", None, settled)
    again = added_up(poll, LEADER, reports, over.answer)
    assert put_together(poll, LEADER, again, own, over.answer) == answer
    with pytest.raises(ArgumentError, match="SRD-C719"):
        added_up(poll, LEADER, kept(poll, tmp_path / "more", made(poll, 5)), over.answer)


def test_nothing_is_added_after_the_sum_left(tmp_path: Path) -> None:
    poll = asked()
    bodies = made(poll, 30)
    _, helper, _ = collected(poll, tmp_path, bodies)
    for more in (bodies[:-1], [*bodies, *made(poll, 1)], made(poll, 600)):
        folder = tmp_path / f"again{len(more)}"
        with pytest.raises(ArgumentError, match="SRD-C719"):
            added_up(poll, LEADER, kept(poll, folder, more), helper.answer)
    assert helper.collected


def test_false_and_foreign_reports_are_refused_and_not_counted(tmp_path: Path) -> None:
    poll, other = asked(), asked(round=2)
    good = made(poll, 20)
    bad = []
    for place, each in enumerate(made(poll, 12)):
        at = HEADER + place * (len(each) - HEADER) // 12
        bad.append(each[:at] + bytes([each[at] ^ 1]) + each[at + 1 :])
    swapped = made(poll, 2)
    bad += [swapped[0][:HEADER] + swapped[1][HEADER:]]  # a payload under another id
    strange = made(other, 1)[0]
    bad += [poll_head(poll) + strange[33:]]  # made for another round
    assert read_each(poll, [strange]).refused == ((0, "SRD-C703"),)
    assert read_each(poll, [good[0][:-1]]).refused == ((0, "SRD-C702"),)
    answer, _, _ = collected(poll, tmp_path, [*good, *bad])
    assert answer.reports == 20


def poll_head(poll: Survey) -> bytes:
    return bytes([1]) + poll.digest


def test_one_server_s_files_and_messages_hold_no_answer(tmp_path: Path) -> None:
    """Other answers: all that travels and is kept has the same lengths, and no more in common than by chance."""
    poll = asked()
    said: list[list[bytes]] = []
    for each in range(2):
        heard_here: list[bytes] = []
        bodies = made(poll, 5, first=each)
        assert {len(body) for body in bodies} == {HEADER + poll.randomizer.size}
        reports = kept(poll, tmp_path / f"l{each}", bodies)
        helper = Helper(poll, HELPER, tmp_path / f"h{each}", begun(poll))

        def ask(message: bytes, into: list[bytes] = heard_here, at: Helper = helper) -> bytes:
            into.extend((message, at.answer(message)))
            return into[-1]

        added_up(poll, LEADER, reports, ask)
        said.append(heard_here)
    for one, two in zip(*said, strict=True):
        assert len(one) == len(two)
    one, two = (files_of(tmp_path / f"h{each}") for each in range(2))
    assert len(one) == len(two)
    assert sum(a == b for a, b in zip(one, two, strict=True)) < len(one) / 4


def test_servers_listen_to_each_other_and_nobody_else(tmp_path: Path) -> None:
    poll, third = asked(), PartyKey.fresh()
    helper = Helper(poll, HELPER, tmp_path, begun(poll))
    forged = spoken(asked(parties=[{**TWO[0], "key": third.text}, TWO[1]]), third, b"check", [b"\0\0\0\0"])
    for message in (
        b"check\n" + forged,
        b"check\n",
        b"sum\n" + bytes(80),
        b"check\n" + spoken(poll, LEADER, b"sum", []),
    ):
        with pytest.raises(SourceError, match="SRD-C719"):
            helper.answer(message)
    for use, pieces in ((b"check", []), (b"check", [b"\0\0\0\0", b"x"]), (b"check", [b"x" * 5]), (b"other", [])):
        with pytest.raises(ArgumentError, match="SRD-C719"):
            helper.answer(use + b"\n" + spoken(poll, LEADER, use, pieces))
    with pytest.raises(ArgumentError, match="SRD-C311"):
        helper.answer(b"sum\n" + spoken(poll, LEADER, b"sum", [bytes(32), bytes(7) + b"\x01"]))
    assert not helper.collected
    assert role_of(poll, LEADER) == 0
    assert role_of(poll, HELPER) == 1
    with pytest.raises(ArgumentError, match="SRD-C718"):
        role_of(poll, third)
    assert heard(poll, HELPER, b"x", spoken(poll, LEADER, b"x", [b"", b"ab"])) == [b"", b"ab"]


def test_a_malicious_length_hurts_nobody(tmp_path: Path) -> None:
    poll = asked()
    helper = Helper(poll, HELPER, tmp_path, begun(poll))
    answer = helper.answer(b"check\n" + spoken(poll, LEADER, b"check", [b"\0\0\0\0", b"x", b"y", b"z", b"w"]))
    assert heard(poll, LEADER, b"checked", answer) == [b""]


def test_answers_are_made_as_whole_reports() -> None:
    way = asked().randomizer
    for call in (lambda: way.report(0, SOURCE), lambda: way.reports(np.zeros(1, np.int64))):
        with pytest.raises(ArgumentError, match="SRD-C713"):
            call()
    with pytest.raises(ArgumentError, match="SRD-C713"):
        asked().asks.estimate(np.zeros(0, np.int64), 3)
    with pytest.raises(ArgumentError, match="SRD-C714"):
        so.collect.survey("n", so.collect.number(0, 1, epsilon=1), trust="two-servers", parties=TWO)
