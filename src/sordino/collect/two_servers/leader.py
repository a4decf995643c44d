"""The leader: takes reports, has them checked and added up by both servers, and puts the answer together.

**Guarantee**: after a crash the same reports come in the same chunks to the same messages, so the helper counts nothing
twice, and both hand out the noised sum that they recorded first, never a fresh one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.accounting.work import Work
from sordino.collect import prio3
from sordino.collect.estimate import Estimate
from sordino.collect.randomizer import Payloads
from sordino.collect.sealing import PartyKey
from sordino.collect.surveys import Survey

from .messages import CHECK, CHECKED, LEADER, SUM, SUMMED, heard, spoken, verification_key
from .shares import Shares, share_of

if TYPE_CHECKING:
    import pyarrow as pa

Ask = Callable[[bytes], bytes]
"""Sends a message to the helper, and returns its answer."""
CHUNK = 500


def added_up(survey: Survey, key: PartyKey, reports: Path, ask: Ask) -> prio3.AggregateShare:
    """Have all reports (Parquet, by their ids) checked by both servers; return the leader's sum of those that count."""
    way = survey.randomizer
    assert isinstance(way, Shares)  # noqa: S101  (by its trust)
    protocol, common = way.prio3(survey.digest), verification_key(survey, key)
    total = prio3.AggregateShare(protocol)
    for number, (ids, payloads) in enumerate(_chunks(reports, way.size)):
        parts = [way.parted(each.tobytes()) for each in payloads]
        shares = [
            prio3.ReportShare(each, public, share_of(key, LEADER, survey.digest, each, public, sealed))
            for each, (public, sealed, _) in zip(ids, parts, strict=True)
        ]
        waiting = prio3.leader_start(protocol, common, shares)
        pieces = [number.to_bytes(4, "little")]
        for each, (public, _, sealed), message in zip(ids, parts, waiting.outbound, strict=True):
            pieces += [each, public, sealed, message]
        answered = heard(survey, key, CHECKED, ask(CHECK + b"\n" + spoken(survey, key, CHECK, pieces)))
        total.add(waiting.finish(answered), ids)
    return total


def put_together(survey: Survey, key: PartyKey, total: prio3.AggregateShare, work: Work, ask: Ask) -> Answer:
    """Ask the helper for its noised sum, add the own one, and return the answer."""
    pieces = [total.checksum, total.reports.to_bytes(8, "little")]
    (said,) = heard(survey, key, SUMMED, ask(SUM + b"\n" + spoken(survey, key, SUM, pieces)))
    plan = work.plan
    assert isinstance(plan, prio3.CollectionPlan)  # noqa: S101
    found = prio3.opened(plan, [prio3.collect(work, total), prio3.NoisedShare.from_json(said)])
    return Answer(survey.name, survey.round, survey.digest.hex(), found.reports, found.values)


@dataclass(frozen=True)
class Answer:
    """What came of two servers' collection: noisy counts, unbiased, so below zero at times. It is settled as it is."""

    survey: str
    round: int
    digest: str
    reports: int
    values: tuple[int, ...]
    receipt: Any = None

    files: ClassVar[Mapping[str, bytes]] = {}

    def to_json(self) -> str:
        """Return all of it but the receipt."""
        said = {"survey": self.survey, "round": self.round, "digest": self.digest}
        return json.dumps(said | {"reports": self.reports, "values": list(self.values)}, separators=(",", ":"))

    def with_receipt(self, receipt: Any) -> Answer:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)


def estimate_of(survey: Survey, settled: str) -> Estimate:
    """Return what an answer says that was settled: counts, and how far off the noise of both servers leaves them."""
    said, way = json.loads(settled), survey.randomizer
    assert isinstance(way, Shares)  # noqa: S101
    values = np.array(said["values"], dtype=np.float64)
    return Estimate(values, np.full(len(values), way.noise.standard_deviation), said["reports"])


def _chunks(reports: Path, size: int) -> Iterator[tuple[list[bytes], Payloads]]:
    """Yield ids and payloads in the order of ids, as they are kept."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(reports) as file:
        for batch in file.iter_batches(CHUNK, columns=["id", "payload"]):
            yield batch.column("id").to_pylist(), _rows(batch.column("payload"), size)


def _rows(column: pa.Array, size: int) -> Payloads:
    return np.frombuffer(b"".join(column.to_pylist()), np.uint8).reshape(len(column), size)
