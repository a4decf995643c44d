"""The question of a survey, built anew from what the survey says of itself: for participants, who get nothing else.

**Guarantee**: whoever answers compares what the survey that was built says with what it was built from
(``participant.py``); so nothing is answered by other coins than those whose ε is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

from .choice import WAYS, frequency

_MOST_CLASSES = 100
Public = Mapping[str, Any]


def fraction(text: Any) -> Fraction:
    """Return a fraction as surveys spell it; a power of ten, which could be a very large number, is none."""
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,60}(/[0-9]{1,60})?", text):
        raise ValueError
    return Fraction(text)


def questions_like(public: Public) -> Iterator[Callable[[], Any]]:
    """Yield what makes questions, one of which it is; making one of them may raise."""
    if "periods" in public:
        yield lambda: _every_day(public)
    elif "what" in public:
        yield lambda: _KINDS[public["what"]](public)
    else:
        for way in WAYS:
            yield partial(_frequency, public, way.name)


def _frequency(public: Public, way: str) -> Any:
    return frequency(_values(public), epsilon=fraction(public["epsilon"]), way=way)


def _values(public: Public) -> Any:
    return public["values"] if public["values"] is not None else public["randomizer"]["domain"]


def _every_day(public: Public) -> Any:
    from .daily import every_day

    said = {"periods": public["periods"], "days": public["days_of_a_period"]}
    if public.get("what") == "word":
        return every_day(_rappor(public), **said)
    longitudinal = fraction(public["randomizer"]["longitudinal"])
    return every_day(_values(public), longitudinal=longitudinal, epsilon=fraction(public["epsilon"]), **said)


def _number(public: Public) -> Any:
    from .numbers.choice import number, number_by_class

    scale, way = public["scale"], public["randomizer"]
    ends = (_double(scale["low"]), _double(scale["high"]))
    if way["protocol"] == "epsilon-classes":
        epsilons = {each["class"]: fraction(each["epsilon"]) for each in way["ways"][:_MOST_CLASSES]}
        return number_by_class(*ends, epsilons=epsilons)
    name = way["ways"][0]["protocol"] if public["what"] == "variance" else way["protocol"]
    asked = {"what": public["what"], "steps": scale["steps"], "way": name}
    return number(*ends, epsilon=fraction(public["epsilon"]), **asked)


def _means(public: Public) -> Any:
    from .numbers.choice import several_numbers

    bounds = {each["name"]: (_double(each["low"]), _double(each["high"])) for each in public["scales"]}
    return several_numbers(bounds, epsilon=fraction(public["epsilon"]))


def _vector(public: Public) -> Any:
    from .numbers.choice import vector

    way = public["randomizer"]
    sizes = {"radius": _double(public["radius"]), "directions": way["directions"]}
    return vector(way["dimension"], epsilon=fraction(public["epsilon"]), **sizes)


def _word(public: Public) -> Any:
    from .frequencies.count_mean import CountMeanSketch
    from .frequencies.hadamard_mean import HadamardCountMeanSketch
    from .frequencies.prefix_tree import PrefixTree
    from .word_question import words

    way, epsilon = public["randomizer"], fraction(public["epsilon"])
    if way["protocol"] == "rappor":
        return words(way=_rappor(public))
    if way["protocol"] == PrefixTree.protocol:
        shares = [fraction(each) / 2**64 for each in ("0", *way["limits"], str(2**64))]
        lengths = tuple(way["lengths"])
        tree = PrefixTree(epsilon, way["alphabet"], lengths[-1], lengths, (), way["seeds"], int(way["salt"]))
        if list(tree.public()["limits"]) != list(way["limits"]):
            each = tuple(high - low for low, high in pairwise(shares))
            tree = PrefixTree(epsilon, way["alphabet"], lengths[-1], lengths, each, way["seeds"], int(way["salt"]))
        return words(way=tree)
    sketch = {each.protocol: each for each in (CountMeanSketch, HadamardCountMeanSketch)}[way["protocol"]]
    return words(way=sketch(int(way["domain"]), epsilon, way["hashes"], way["width"], int(way["salt"])))


def _rappor(public: Public) -> Any:
    from .frequencies.rappor import Rappor
    from .frequencies.rappor_coins import RapporCoins

    way = public["randomizer"]
    coins = RapporCoins(*(int(way[name]) for name in ("flip", "zero", "one")))
    shape = (way["bits"], way["hashes"], way["cohorts"], int(way["salt"]))
    return Rappor(fraction(way["longitudinal"]), fraction(public["epsilon"]), *shape, coins)


def _double(text: Any) -> Fraction:
    """Return a bound as surveys spell it: the text of a double."""
    if not isinstance(text, str) or len(text) > 30:
        raise ValueError
    return Fraction(float(text))


_KINDS: dict[str, Callable[[Public], Any]] = {
    "mean": _number,
    "variance": _number,
    "distribution": _number,
    "means": _means,
    "vector": _vector,
    "word": _word,
}
