"""Prio3: sums and histograms by servers of which no one sees an answer; draft-irtf-cfrg-vdaf-18.

    sharding    a client's measurement in shares, with a proof          Count, Sum, Histogram
    topology    two servers: start, answer, finish                      leader_start, helper_answer
    verify      the same for any number of servers                      verify_start, verifier_messages, verify_next
    aggregate   what each server adds up; what all sums give together   AggregateShare, unshard
    collection  the whole exact noise by each server, drawn once        ServerNoise, CollectionPlan, collect, opened

    below them  prio3 (parameters and sizes), derive (seeds and tags), proof, gadgets, circuit, polynomial, xof, field

>>> from sordino.collect.prio3 import Count, Prio3, helper_answer, leader_start, new_key, reports
>>> survey, key = Prio3(Count(), context=b"who cycles to work"), new_key()
>>> made = reports(survey, [1, 0, 1])
>>> waiting = leader_start(survey, key, [report.for_server(0) for report in made])
>>> answered = helper_answer(survey, key, [report.for_server(1) for report in made], waiting.outbound)
>>> waiting.finish(answered.outbound).accepted
array([ True,  True,  True])
"""

from .aggregate import AggregateShare, unshard
from .collection import Collected, CollectionPlan, NoisedShare, collect, opened
from .count import Count
from .histogram import Histogram
from .prio3 import HELPER, LEADER, Prio3
from .refusal import Refusal
from .server_noise import ServerNoise
from .sharding import Report, ReportShare, new_key, report, reports, shard
from .summing import Sum
from .topology import Answered, Waiting, helper_answer, leader_start
from .verify import Combined, Finished, Started, verifier_messages, verify_next, verify_start

__all__ = [
    "HELPER",
    "LEADER",
    "AggregateShare",
    "Answered",
    "Collected",
    "CollectionPlan",
    "Combined",
    "Count",
    "Finished",
    "Histogram",
    "NoisedShare",
    "Prio3",
    "Refusal",
    "Report",
    "ReportShare",
    "ServerNoise",
    "Started",
    "Sum",
    "Waiting",
    "collect",
    "helper_answer",
    "leader_start",
    "new_key",
    "opened",
    "report",
    "reports",
    "shard",
    "unshard",
    "verifier_messages",
    "verify_next",
    "verify_start",
]
