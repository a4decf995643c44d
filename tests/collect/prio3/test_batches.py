"""Batches of good and hostile reports: each is judged by itself, nothing raises, and nobody else's report suffers."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.collect.prio3 import (
    AggregateShare,
    Count,
    Histogram,
    Prio3,
    Refusal,
    Report,
    ReportShare,
    Sum,
    helper_answer,
    leader_start,
    new_key,
    report,
    reports,
    single,
    unshard,
    verifier_messages,
    verify_next,
    verify_start,
)
from sordino.collect.prio3.verify import Finished
from sordino.errors import ArgumentError

KEY = bytes(range(32))
SURVEYS = [
    Prio3(Count(), context=b"count"),
    Prio3(Sum(1), context=b"bit"),
    Prio3(Sum(100), context=b"sum"),
    Prio3(Histogram(7, 3), context=b"histogram"),
]


def named(survey: Prio3) -> str:
    return repr(survey.circuit)


def exchanged(survey: Prio3, made: list[Report], change: Any = None) -> tuple[Finished, Finished]:
    """Return what leader and helper finish with, where `change` may alter what the helper is sent."""
    waiting = leader_start(survey, KEY, [each.for_server(0) for each in made])
    outbound = change(waiting.outbound) if change else waiting.outbound
    answered = helper_answer(survey, KEY, [each.for_server(1) for each in made], outbound)
    return waiting.finish(answered.outbound), answered.finished


def total(survey: Prio3, made: list[Report], finished: tuple[Finished, ...]) -> list[int]:
    sums = []
    for each in finished:
        share = AggregateShare(survey)
        share.add(each, [report.nonce for report in made])
        sums.append(share.encoded)
    return [int(value) for value in unshard(survey, sums)]


@pytest.mark.parametrize("survey", SURVEYS, ids=named)
def test_two_servers_find_the_sum(survey: Prio3) -> None:
    measured = np.arange(23) % survey.circuit.measurements
    made = reports(survey, measured)
    leader, helper = exchanged(survey, made)
    assert leader.accepted.all()
    assert helper.accepted.all()
    bins = survey.circuit.output_length
    expected = np.bincount(measured, minlength=bins).tolist() if bins > 1 else [int(measured.sum())]
    assert total(survey, made, (leader, helper)) == expected


@pytest.mark.parametrize("servers", [3, 4])
@pytest.mark.parametrize("circuit", [Count(), Sum(9), Histogram.of(5)], ids=repr)
def test_more_servers_find_the_sum(circuit: Any, servers: int) -> None:
    survey = Prio3(circuit, servers, b"many")
    made = reports(survey, [1, 0, 1])
    started = [verify_start(survey, s, KEY, [each.for_server(s) for each in made]) for s in range(servers)]
    combined = verifier_messages(survey, [each.verifier_shares for each in started])
    finished = tuple(verify_next(each, combined.messages) for each in started)
    assert total(survey, made, finished)[:2] == ([1, 2] if circuit == Histogram.of(5) else [2] * 1)[:2]


def hostile(good: Report) -> list[Report]:
    """Return reports that are broken in every field, each in several ways."""
    changed = []
    for name in ("nonce", "public_share"):
        value = getattr(good, name)
        for bad in (value + b"\0", value[:-1] if value else b"x", None, 7, "text"):
            changed.append(replace(good, **{name: bad}))
    for server in (0, 1):
        share = good.input_shares[server]
        for bad in (b"", share[:-1], share + b"\0", None, bytearray(share), b"\xff" * len(share), bytes(len(share))):
            inputs = list(good.input_shares)
            inputs[server] = bad  # type: ignore[call-overload]
            changed.append(replace(good, input_shares=tuple(inputs)))
    return changed


@pytest.mark.parametrize("survey", SURVEYS, ids=named)
def test_broken_reports_are_refused_and_no_other(survey: Prio3) -> None:
    good = reports(survey, [1] * 3)
    made = [good[0], *hostile(report(survey, 0)), good[1], *hostile(report(survey, 1)), good[2]]
    leader, helper = exchanged(survey, made)
    fine = np.array([each in good for each in made])
    assert (leader.accepted == fine).all()
    assert (helper.accepted == fine).all()
    assert total(survey, made, (leader, helper))[-1 if survey.circuit.output_length == 1 else 1] == 3


@pytest.mark.parametrize("survey", SURVEYS, ids=named)
@pytest.mark.parametrize("bad", [b"", None, b"\x02", b"\0\0\0\0\0", b"\x09" * 40, 3, "finish"], ids=repr)
def test_broken_messages_refuse_their_own_report_only(survey: Prio3, bad: Any) -> None:
    made = reports(survey, [1, 1, 1])
    leader, helper = exchanged(survey, made, lambda sent: [sent[0], bad, sent[2]])
    for finished in (leader, helper):
        assert finished.accepted.tolist() == [True, False, True]
        assert finished.reasons[1] == Refusal.NO_MESSAGE


@pytest.mark.parametrize("survey", SURVEYS, ids=named)
def test_messages_of_other_reports_do_not_pass(survey: Prio3) -> None:
    made = reports(survey, [0, 1, 0])
    _, helper = exchanged(survey, made, lambda sent: [sent[1], sent[0], sent[2]])
    assert helper.accepted.tolist() == [False, False, True]
    assert set(helper.reasons[:2].tolist()) == {Refusal.FALSE_PROOF}


@pytest.mark.parametrize("survey", SURVEYS, ids=named)
def test_a_false_proof_does_not_pass_for_want_of_a_message(survey: Prio3) -> None:
    """Without joint randomness all messages are empty: a refused report must not look like an accepted one."""
    (made,) = reports(survey, [1])
    (other,) = reports(survey, [0])
    mixed = replace(made, input_shares=(made.input_shares[0], other.input_shares[1]))
    started = [verify_start(survey, server, KEY, [mixed.for_server(server)]) for server in (0, 1)]
    combined = verifier_messages(survey, [each.verifier_shares for each in started])
    assert not any(verify_next(each, combined.messages).accepted.any() for each in started)
    leader, helper = exchanged(survey, [mixed])
    assert not leader.accepted.any()
    assert not helper.accepted.any()
    assert total(survey, [mixed], (leader, helper)) == [0] * survey.circuit.output_length


@pytest.mark.parametrize("survey", SURVEYS, ids=named)
def test_another_context_or_key_refuses_all(survey: Prio3) -> None:
    made = reports(survey, [1, 0])
    elsewhere = replace(survey, context=b"another survey")
    assert not any(each.accepted.any() for each in exchanged(elsewhere, made))
    waiting = leader_start(survey, KEY, [each.for_server(0) for each in made])
    answered = helper_answer(survey, new_key(), [each.for_server(1) for each in made], waiting.outbound)
    assert not answered.finished.accepted.any()


def test_a_nonce_counts_once() -> None:
    survey = SURVEYS[2]
    made = reports(survey, [5, 7])
    made = [*made, made[0]]
    leader, _ = exchanged(survey, made)
    share = AggregateShare(survey)
    nonces = [each.nonce for each in made]
    assert share.add(leader, nonces).tolist() == [0, 0, Refusal.REPEATED]
    assert share.add(leader, nonces).tolist() == [Refusal.REPEATED] * 3
    assert share.reports == 2


def test_the_checksum_is_of_the_nonces_that_count() -> None:
    survey = SURVEYS[0]
    made = reports(survey, [1, 0, 1])
    nonces = [each.nonce for each in made]
    leader, helper = exchanged(survey, made)
    counted = np.array([True, False, True])
    one, other = AggregateShare(survey), AggregateShare(survey)
    one.add(leader.only(counted), nonces)
    other.add(helper.only(counted), nonces)
    both = (hashlib.sha256(nonces[at]).digest() for at in (0, 2))
    assert one.checksum == other.checksum == bytes(a ^ b for a, b in zip(*both, strict=True))
    assert total(survey, made, (leader.only(counted), helper.only(counted))) == [2]


@pytest.mark.parametrize("survey", SURVEYS, ids=named)
def test_shares_are_kept_and_merged(survey: Prio3) -> None:
    made = reports(survey, [1, 0, 1, 1])
    nonces = [each.nonce for each in made]
    leader, _ = exchanged(survey, made)
    whole, one, other = (AggregateShare(survey) for _ in range(3))
    whole.add(leader, nonces)
    one.add(leader.only(np.array([True, False, True, False])), nonces)
    other.add(leader.only(np.array([False, True, False, True])), nonces)
    again = AggregateShare.from_bytes(survey, one.to_bytes())
    with pytest.raises(ArgumentError) as error:
        again.merge(one)
    assert error.value.code == "SRD-C306"
    again.merge(other)
    assert (again.encoded, again.checksum, again.reports) == (whole.encoded, whole.checksum, 4)
    assert again.add(leader, nonces).tolist() == [Refusal.REPEATED] * 4
    assert AggregateShare.from_bytes(survey, AggregateShare(survey).to_bytes()).reports == 0
    with pytest.raises(ArgumentError):
        again.merge(AggregateShare(replace(survey, context=b"other")))
    kept = whole.to_bytes()
    for damaged in (b"", kept[:-1], kept[:5], kept + nonces[0], b"\xff" * len(kept)):
        with pytest.raises(ArgumentError) as error:
            AggregateShare.from_bytes(survey, damaged)
        assert error.value.code == "SRD-C312"


@pytest.mark.parametrize("survey", SURVEYS, ids=named)
def test_an_empty_batch_is_a_batch(survey: Prio3) -> None:
    assert reports(survey, []) == []
    leader, helper = exchanged(survey, [])
    assert leader.outputs.shape == helper.outputs.shape == (0, survey.circuit.output_length)
    assert total(survey, [], (leader, helper)) == [0] * survey.circuit.output_length


@pytest.mark.parametrize("survey", SURVEYS, ids=named)
def test_batches_are_cut_without_a_trace(survey: Prio3, monkeypatch: pytest.MonkeyPatch) -> None:
    made = reports(survey, [1, 0, 1, 1, 0])
    shares = [each.for_server(1) for each in made]
    whole = verify_start(survey, 1, KEY, shares)
    monkeypatch.setattr("sordino.collect.prio3.verify._AT_ONCE", 2)
    parts = verify_start(survey, 1, KEY, shares)
    assert parts.verifier_shares == whole.verifier_shares
    assert (parts.outputs == whole.outputs).all()


@pytest.mark.parametrize("survey", SURVEYS, ids=named)
def test_sizes_are_as_declared_whatever_is_measured(survey: Prio3) -> None:
    made = reports(survey, np.arange(survey.circuit.measurements))
    sizes = {tuple(16 + len(each.public_share) + len(share) for share in each.input_shares) for each in made}
    assert sizes == {survey.report_sizes}


def test_one_report_raises_by_a_code() -> None:
    survey = SURVEYS[3]
    made, other = reports(survey, [3, 4])
    started, share = single.verify_init(survey, 0, KEY, made.for_server(0))
    _, helper_share = single.verify_init(survey, 1, KEY, made.for_server(1))
    message = single.verifier_shares_to_message(survey, [share, helper_share])
    assert len(single.verify_next(started, message)) == 7
    refusals = [
        (lambda: single.verify_init(survey, 0, KEY, ReportShare(b"", b"", b"")), "SRD-C301"),
        (lambda: single.verifier_shares_to_message(survey, [share, b"short"]), "SRD-C303"),
        (lambda: single.verifier_shares_to_message(survey, [share, share]), "SRD-C304"),
        (lambda: single.verify_next(started, bytes(32)), "SRD-C305"),
        (lambda: single.verify_next(started, b""), "SRD-C303"),
    ]
    for call, code in refusals:
        with pytest.raises(ArgumentError) as error:
            call()
        assert error.value.code == code
        assert other.nonce.hex() not in str(error.value)


def test_every_refusal_has_words() -> None:
    errors = [reason.error() for reason in Refusal if reason]
    assert len({error.code for error in errors}) == len(errors) == 6


@pytest.mark.parametrize(
    ("survey", "bad"),
    [
        (SURVEYS[0], 2),
        (SURVEYS[0], -1),
        (SURVEYS[2], 101),
        (SURVEYS[3], 7),
        (SURVEYS[3], 2.0),
        (SURVEYS[3], float("nan")),
        (SURVEYS[3], True),
        (SURVEYS[3], "3"),
        (SURVEYS[3], 2**70),
    ],
)
def test_clients_refuse_what_is_no_measurement_without_showing_it(survey: Prio3, bad: Any) -> None:
    with pytest.raises(ArgumentError) as error:
        report(survey, bad)
    assert "101" not in str(error.value)


def test_nothing_secret_is_printed() -> None:
    survey = SURVEYS[3]
    made = report(survey, 2)
    started = verify_start(survey, 0, KEY, [made.for_server(0)])
    finished, _ = exchanged(survey, [made])
    secrets = [share.hex()[:16] for share in made.input_shares] + [repr(share)[2:20] for share in made.input_shares]
    secrets += [str(value) for value in started.outputs[0]]
    for shown in map(repr, (made, made.for_server(0), started, finished, AggregateShare(survey))):
        assert not any(secret in shown for secret in secrets)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Prio3(Count(), servers=1),
        lambda: Prio3(Count(), servers=256),
        lambda: Prio3(Count(), context="text"),  # type: ignore[arg-type]
        lambda: Prio3(Count(), context=bytes(2**16)),
        lambda: Sum(0),
        lambda: Sum(2**63),
        lambda: Histogram(0, 1),
        lambda: Histogram(4, 0),
        lambda: verify_start(SURVEYS[0], 2, KEY, []),
        lambda: verify_start(SURVEYS[0], 0, b"short", []),
        lambda: leader_start(Prio3(Count(), 3), KEY, []),
        lambda: verifier_messages(SURVEYS[0], [[]]),
        lambda: verify_next(verify_start(SURVEYS[0], 0, KEY, []), [b""]),
        lambda: helper_answer(SURVEYS[0], KEY, [], [b""]),
        lambda: unshard(SURVEYS[0], [bytes(8)]),
        lambda: unshard(SURVEYS[0], [bytes(8), b"\xff" * 8]),
        lambda: unshard(SURVEYS[0], [bytes(8), bytes(9)]),
        lambda: AggregateShare(SURVEYS[0]).add(exchanged(SURVEYS[1], [])[0], []),
    ],
)
def test_what_cannot_be_is_refused(build: Any) -> None:
    with pytest.raises(ArgumentError):
        build()


@settings(deadline=None, max_examples=40)
@given(st.binary(max_size=200), st.binary(max_size=20), st.binary(max_size=70), st.binary(max_size=120))
def test_no_bytes_raise(share: bytes, nonce: bytes, public: bytes, message: bytes) -> None:
    for survey in SURVEYS:
        hostile_share = ReportShare(nonce, public, share)
        waiting = leader_start(survey, KEY, [hostile_share])
        assert not waiting.finish([message]).accepted.any()
        assert not helper_answer(survey, KEY, [hostile_share], [message]).finished.accepted.any()


@pytest.mark.parametrize("survey", SURVEYS, ids=named)
def test_shares_alone_do_not_depend_on_the_measurement(survey: Prio3) -> None:
    """One helper's share is a seed, whatever is measured; the leader's is the measurement less what that seed gives."""
    from sordino.collect.prio3.sharding import shard

    nonces, randomness = np.zeros((1, 16), np.uint8), np.arange(survey.randomness_size, dtype=np.uint8)[None]
    zero, one = (shard(survey, [value], nonces, randomness)[0] for value in (0, 1))
    assert zero.input_shares[1] == one.input_shares[1]
    size = survey.circuit.field.size * survey.circuit.measurement_length
    (first, second), _ = survey.circuit.field.decode(
        np.array([list(each.input_shares[0][:size]) for each in (zero, one)], dtype=np.uint8)
    )
    encoded = survey.circuit.encode(np.array([0, 1]))
    assert ((second - first - encoded[1] + encoded[0]) % survey.circuit.field.modulus == 0).all()
