"""Bit by bit what the draft's vectors say, and what its reference code finds for other parameters and bad reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sordino.collect.prio3 import (
    Count,
    Histogram,
    Prio3,
    ReportShare,
    Sum,
    shard,
    verifier_messages,
    verify_next,
    verify_start,
)
from sordino.collect.prio3.aggregate import AggregateShare, unshard
from sordino.collect.prio3.field import FIELD128, Bytes
from sordino.collect.prio3.refusal import Refusal
from sordino.collect.prio3.verify import Finished, Started
from sordino.collect.prio3.xof import column, expanded, expanded_elements

VECTORS = Path(__file__).parent / "vectors"
OFFICIAL = {path.stem: json.loads(path.read_text()) for path in sorted(VECTORS.glob("Prio3*.json"))}
REFERENCE = json.loads((VECTORS / "reference.json").read_text())
STEPS = {
    "verify_init": {Refusal.MALFORMED},
    "verifier_shares_to_message": {Refusal.FALSE_PROOF},
    "verify_next": {Refusal.JOINT_RANDOMNESS},
    "accepted": {Refusal.ACCEPTED},
}


def rows(texts: list[str]) -> Bytes:
    return np.array([list(bytes.fromhex(text)) for text in texts], dtype=np.uint8).reshape(len(texts), -1)


def instance(variant: str, vector: dict[str, Any]) -> Prio3:
    circuits = {
        "Count": lambda: Count(),
        "Sum": lambda: Sum(vector["max_measurement"]),
        "Histogram": lambda: Histogram(vector["length"], vector["chunk_length"]),
    }
    return Prio3(circuits[variant](), vector["shares"], bytes.fromhex(vector["ctx"]))


def share_of(report: dict[str, Any], server: int) -> ReportShare:
    texts = report["nonce"], report["public_share"], report["input_shares"][server]
    return ReportShare(*(bytes.fromhex(text) for text in texts))


class Replay:
    """One official vector, operation by operation; each says whether it came to what the vector says."""

    def __init__(self, name: str, vector: dict[str, Any]) -> None:
        self.vector = vector
        self.prio3 = instance(name.removeprefix("Prio3").split("_")[0], vector)
        self.started: dict[tuple[int, int], Started] = {}
        self.finished: dict[tuple[int, int], Finished] = {}

    def run(self, operation: dict[str, Any]) -> bool:
        return bool(getattr(self, operation["operation"])(operation))

    def _report(self, operation: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = self.vector["reports"][operation["report_index"]]
        return found

    def shard(self, operation: dict[str, Any]) -> bool:
        report = self._report(operation)
        (made,) = shard(self.prio3, [report["measurement"]], rows([report["nonce"]]), rows([report["rand"]]))
        return [made.public_share.hex(), *(share.hex() for share in made.input_shares)] == [
            report["public_share"],
            *report["input_shares"],
        ]

    def verify_init(self, operation: dict[str, Any]) -> bool:
        report, server = self._report(operation), operation["aggregator_id"]
        key = bytes.fromhex(self.vector["verify_key"])
        started = verify_start(self.prio3, server, key, [share_of(report, server)])
        self.started[operation["report_index"], server] = started
        return bool(started.accepted[0]) and started.verifier_shares[0].hex() == report["verifier_shares"][0][server]

    def verifier_shares_to_message(self, operation: dict[str, Any]) -> bool:
        report = self._report(operation)
        combined = verifier_messages(self.prio3, [[bytes.fromhex(share)] for share in report["verifier_shares"][0]])
        return not combined.reasons[0] and combined.messages[0].hex() == report["verifier_messages"][0]

    def verify_next(self, operation: dict[str, Any]) -> bool:
        report, place = self._report(operation), (operation["report_index"], operation["aggregator_id"])
        self.finished[place] = verify_next(self.started[place], [bytes.fromhex(report["verifier_messages"][0])])
        if not self.finished[place].accepted[0]:
            return False
        output = self.prio3.circuit.field.encode(self.finished[place].outputs)
        return output.tobytes().hex() == report["out_shares"][operation["aggregator_id"]]

    def _share(self, server: int) -> AggregateShare:
        share = AggregateShare(self.prio3)
        for index, report in enumerate(self.vector["reports"]):
            share.add(self.finished[index, server], [bytes.fromhex(report["nonce"])])
        return share

    def aggregate(self, operation: dict[str, Any]) -> bool:
        server = operation["aggregator_id"]
        return bool(self._share(server).encoded.hex() == self.vector["agg_shares"][server])

    def unshard(self, _: dict[str, Any]) -> bool:
        found = unshard(self.prio3, [bytes.fromhex(share) for share in self.vector["agg_shares"]])
        return found.tolist() == np.atleast_1d(self.vector["agg_result"]).tolist()


@pytest.mark.parametrize("name", OFFICIAL)
def test_the_official_vectors_bit_by_bit(name: str) -> None:
    replay = Replay(name, OFFICIAL[name])
    outcomes = [replay.run(operation) for operation in OFFICIAL[name]["operations"]]
    assert outcomes == [operation["success"] for operation in OFFICIAL[name]["operations"]]


def test_bad_official_vectors_are_among_them() -> None:
    assert sum(not all(step["success"] for step in vector["operations"]) for vector in OFFICIAL.values()) >= 4


def test_the_extendable_output_bit_by_bit() -> None:
    vector = json.loads((VECTORS / "XofTurboShake128.json").read_text())
    seed, tag, binder = (bytes.fromhex(vector[name]) for name in ("seed", "dst", "binder"))
    assert expanded(tag, column(seed), column(binder), 32).tobytes().hex() == vector["derived_seed"]
    found = expanded_elements(FIELD128, tag, column(seed), column(binder), vector["length"])
    assert FIELD128.encode(found).tobytes().hex() == vector["expanded_vec_field128"]


def named(vector: dict[str, Any]) -> str:
    sizes = [str(vector[name]) for name in ("max_measurement", "length", "chunk_length") if name in vector]
    return "-".join([vector["variant"], *sizes, f"{vector['shares']}-servers"])


@pytest.mark.parametrize("vector", REFERENCE, ids=named)
def test_the_reference_code_makes_the_same_reports(vector: dict[str, Any]) -> None:
    given = vector["reports"]
    measurements = [report["measurement"] for report in given]
    nonces, randomness = (rows([report[name] for report in given]) for name in ("nonce", "rand"))
    made = shard(instance(vector["variant"], vector), measurements, nonces, randomness)
    assert [report.public_share.hex() for report in made] == [report["public_share"] for report in given]
    assert [[share.hex() for share in report.input_shares] for report in made] == [r["input_shares"] for r in given]


@pytest.mark.parametrize("vector", REFERENCE, ids=named)
def test_the_reference_code_finds_the_same_of_good_and_bad_reports_in_one_batch(vector: dict[str, Any]) -> None:
    prio3 = instance(vector["variant"], vector)
    # Bad ones first and last, so that a slip by one row would show.
    given = [*vector["bad"][::2], *vector["reports"], *vector["bad"][1::2]]
    key, servers = bytes.fromhex(vector["verify_key"]), range(vector["shares"])
    started = [verify_start(prio3, server, key, [share_of(each, server) for each in given]) for server in servers]
    combined = verifier_messages(prio3, [each.verifier_shares for each in started])
    finished = [verify_next(each, combined.messages, combined.reasons) for each in started]
    reasons = np.max([each.reasons for each in finished], axis=0)
    for place, report in enumerate(given):
        reached = report["outcome"] != "verify_init"
        assert Refusal(reasons[place]) in STEPS[report["outcome"]] | (set() if reached else {Refusal.NO_MESSAGE})
        if reached:
            assert [each.verifier_shares[place].hex() for each in started] == report["verifier_shares"]
        if report["outcome"] == "accepted":
            outputs = [prio3.circuit.field.encode(each.outputs[place : place + 1]).tobytes().hex() for each in finished]
            assert outputs == report["out_shares"]


@pytest.mark.parametrize("vector", REFERENCE, ids=named)
def test_the_reference_code_adds_up_to_the_same(vector: dict[str, Any]) -> None:
    prio3 = instance(vector["variant"], vector)
    nonces = [bytes.fromhex(report["nonce"]) for report in vector["reports"]]
    for server in range(vector["shares"]):
        outputs, fits = prio3.circuit.field.decode(rows([report["out_shares"][server] for report in vector["reports"]]))
        assert fits.all()
        share = AggregateShare(prio3)
        share.add(Finished(prio3, np.zeros(len(nonces), np.uint8), outputs), nonces)
        assert share.encoded.hex() == vector["agg_shares"][server]
    found = unshard(prio3, [bytes.fromhex(share) for share in vector["agg_shares"]])
    assert found.tolist() == np.atleast_1d(vector["agg_result"]).tolist()
