"""sordino's two servers of Prio3 as two processes."""

from __future__ import annotations

import multiprocessing
from collections import deque
from importlib.metadata import version
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

import numpy as np

from sordino.accounting.account import UnlimitedAccount
from sordino.collect.choice import frequency
from sordino.collect.prio3 import (
    HELPER,
    LEADER,
    AggregateShare,
    CollectionPlan,
    Count,
    Histogram,
    Prio3,
    Report,
    ReportShare,
    Sum,
    collect,
    helper_answer,
    leader_start,
    new_key,
    opened,
    reports,
    unshard,
)

BATCH = 500
PEOPLE, BINS, COLLECTIONS, ROUNDS = 10**5, 20, 2000, 20
Timing = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    return {"sordino": version("sordino"), "pycryptodome": version("pycryptodome")}


def histogram() -> Timing:
    return _verified(Prio3(Histogram.of(20), context=b"bench"), 10_000)


def long_histogram() -> Timing:
    return _verified(Prio3(Histogram.of(1000), context=b"bench"), 1_000)


def summing() -> Timing:
    return _verified(Prio3(Sum(1000), context=b"bench"), 10_000)


def counting() -> Timing:
    return _verified(Prio3(Count(), context=b"bench"), 10_000)


def errors() -> Timing:
    """Return root mean squared errors of one bin: of two servers, of one curator, and of local reports."""
    plan = CollectionPlan.for_epsilon("bench", Prio3(Histogram.of(BINS), context=b"bench"), 1)
    key, told = new_key(), reports(plan.prio3, np.arange(BINS))
    waiting = leader_start(plan.prio3, key, [each.for_server(LEADER) for each in told])
    answered = helper_answer(plan.prio3, key, [each.for_server(HELPER) for each in told], waiting.outbound)
    both, nonces = (waiting.finish(answered.outbound), answered.finished), [each.nonce for each in told]
    begun, off = perf_counter(), []
    for _ in range(COLLECTIONS):
        shares = []
        for finished in both:
            aggregate = AggregateShare(plan.prio3)
            aggregate.add(finished, nonces)
            shares.append(collect(UnlimitedAccount("a benchmark").begin(plan), aggregate))
        off.append(np.array(opened(plan, shares).values, dtype=float) - 1)
    seconds = perf_counter() - begun
    central = plan.noise.noise.law.draw(COLLECTIONS * BINS)
    asked, values = frequency(BINS, epsilon=1).randomizer, np.arange(PEOPLE) % BINS
    local = [asked.estimate(asked.count(asked.reports(values)), PEOPLE).values - PEOPLE / BINS for _ in range(ROUNDS)]
    found = {"servers": off, "central": central, "local": local}
    return seconds, COLLECTIONS, {name: float(np.sqrt(np.square(each).mean())) for name, each in found.items()}


def _verified(survey: Prio3, count: int) -> Timing:
    measured = np.arange(count) % survey.circuit.measurements
    made, key = reports(survey, measured), new_key()
    damaged = range(0, count, 100)
    for place in damaged:
        made[place] = _damaged(made[place])
    spawn = multiprocessing.get_context("spawn")
    to_leader, of_leader = spawn.Pipe()
    to_helper, of_helper = spawn.Pipe()
    here, there = spawn.Pipe()
    processes = [
        spawn.Process(target=_lead, args=(of_leader, here, survey, key, [each.for_server(LEADER) for each in made])),
        spawn.Process(target=_help, args=(of_helper, there, survey, key, [each.for_server(HELPER) for each in made])),
    ]
    for process in processes:
        process.start()
    for end in (to_leader, to_helper):
        end.recv()  # has started, and holds its reports
    start = perf_counter()
    for end in (to_leader, to_helper):
        end.send("go")
    shares = [end.recv() for end in (to_leader, to_helper)]
    seconds = perf_counter() - start
    for process in processes:
        process.join()
    good = np.delete(measured, list(damaged))
    bins = survey.circuit.output_length
    truth = np.bincount(good, minlength=bins) if bins > 1 else np.array([good.sum()])
    return seconds, count, {"wrong": float((unshard(survey, shares) != truth).sum())}


def _damaged(report: Report) -> Report:
    first, second = report.input_shares
    return Report(report.nonce, report.public_share, (bytes([first[0] ^ 1]) + first[1:], second))


def _lead(outside: Connection, peer: Connection, survey: Prio3, key: bytes, shares: list[ReportShare]) -> None:
    aggregate, open_batches = AggregateShare(survey), deque[Any]()

    def finish() -> None:
        waiting, nonces = open_batches.popleft()
        aggregate.add(waiting.finish(peer.recv()), nonces)

    outside.send("ready")
    outside.recv()
    for at in range(0, len(shares), BATCH):
        batch = shares[at : at + BATCH]
        waiting = leader_start(survey, key, batch)
        open_batches.append((waiting, [each.nonce for each in batch]))
        peer.send(waiting.outbound)
        if len(open_batches) > 1:  # so that both have work while messages travel
            finish()
    while open_batches:
        finish()
    outside.send(aggregate.encoded)


def _help(outside: Connection, peer: Connection, survey: Prio3, key: bytes, shares: list[ReportShare]) -> None:
    aggregate = AggregateShare(survey)
    outside.send("ready")
    outside.recv()
    for at in range(0, len(shares), BATCH):
        batch = shares[at : at + BATCH]
        answered = helper_answer(survey, key, batch, peer.recv())
        peer.send(answered.outbound)
        aggregate.add(answered.finished, [each.nonce for each in batch])
    outside.send(aggregate.encoded)
