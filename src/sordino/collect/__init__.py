"""Data that arrives from devices and streams: for those who must not hold what people said.

    randomizer, coins   what every way to answer has in common; coins that every language tosses alike
    frequencies/        how often each of many values is held; words that nobody listed; memory over days
    numbers/            means, variances, distributions, vectors
    question, word_question   what is asked: of listed values, of words; asked: the same again from what a survey says
    surveys, price      of whom, how often, under which trust; what it costs, in plain words
    device, wire        who answers, with a budget of its own in a file; reports as they travel
    participant         the same over HTTP
    round, intake       a survey that is open and charged; reports are synced before they are acknowledged
    parties, sealing    who else takes part, by which key; HPKE
    shuffle/            reports mixed by somebody else before they are counted
    two_servers/        a survey by two servers; prio3/: how they add up what neither can read
    stream/             running totals under one charge
    alerting, pan/      sparse vector over many metrics; counts whose very state is private
    client/             the same for browsers and Node, in JavaScript

Importing this room loads none of it; each name is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .alert_plan import alert
    from .alerting import open_alert
    from .choice import frequency
    from .daily import every_day
    from .device import Device
    from .frequencies.heavy_words import heavy_words
    from .frequencies.prefix_tree import PrefixTree
    from .frequencies.rappor import Rappor
    from .frequencies.rappor_decoding import decode
    from .memory import Memoised, Renewed
    from .metrics import metric_counts
    from .numbers.choice import number, number_by_class, several_numbers, vector
    from .pan.opening import density, distinct, heavy
    from .round import open_round
    from .stream.opening import open_stream
    from .stream.spec import counting, histogram, summing, top_k
    from .stream.watched import watched
    from .surveys import survey
    from .word_question import words

__all__ = [
    "Device",
    "Memoised",
    "PrefixTree",
    "Rappor",
    "Renewed",
    "alert",
    "counting",
    "decode",
    "density",
    "distinct",
    "every_day",
    "frequency",
    "heavy",
    "heavy_words",
    "histogram",
    "metric_counts",
    "number",
    "number_by_class",
    "open_alert",
    "open_round",
    "open_stream",
    "several_numbers",
    "summing",
    "survey",
    "top_k",
    "vector",
    "watched",
    "words",
]

_HOME = {
    "Device": "device",
    "Memoised": "memory",
    "PrefixTree": "frequencies.prefix_tree",
    "Rappor": "frequencies.rappor",
    "Renewed": "memory",
    "alert": "alert_plan",
    "counting": "stream.spec",
    "decode": "frequencies.rappor_decoding",
    "density": "pan.opening",
    "distinct": "pan.opening",
    "every_day": "daily",
    "frequency": "choice",
    "heavy": "pan.opening",
    "heavy_words": "frequencies.heavy_words",
    "histogram": "stream.spec",
    "metric_counts": "metrics",
    "number": "numbers.choice",
    "number_by_class": "numbers.choice",
    "open_alert": "alerting",
    "open_round": "round",
    "open_stream": "stream.opening",
    "several_numbers": "numbers.choice",
    "summing": "stream.spec",
    "survey": "surveys",
    "top_k": "stream.spec",
    "vector": "numbers.choice",
    "watched": "stream.watched",
    "words": "word_question",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
