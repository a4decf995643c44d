"""Questions as plain dictionaries, read and checked before anything else is done with them.

::

    {"dataset": "trips", "sql": "SELECT COUNT(*) AS rides FROM trips", "epsilon": "0.5",
     "words": {"confidence": 0.9}}

What to spend is one of ``epsilon``, ``rho``, ``noise`` or ``error`` (``{"within": 5, "of": "rides", "size": 100}``),
and ``delta`` where it is wanted. Instead of ``sql`` there may be ``calls``, the text of method calls:
``"table('trips').agg(rides=count())"``. ``words`` are the further words of `Ask.price`, with bounding as a dictionary.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from sordino.arguments import rational
from sordino.errors import ArgumentError
from sordino.ledger.scope import checked_name
from sordino.query.ask import Ask, DataAccount
from sordino.query.model.bounding import bounding
from sordino.query.release.goal import within

_AMOUNTS = {
    "epsilon": ("1e-12", "1e4"),
    "rho": ("1e-12", "1e4"),
    "noise": ("1e-6", "1e15"),
    "delta": ("1e-18", "1"),
}
"""What can be spent, each from one unit of the ledger on."""
_FLAGS = ("find", "losses", "intervals", "integers", "non_negative", "consistent")
_WORDS = (*_FLAGS, "weights", "bounding", "mechanism", "confidence")
_FIELDS = ("dataset", "sql", "calls", *_AMOUNTS, "error", "words", "project")
_LONGEST_SQL = 100_000
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


class Read:
    """A question, read and checked; nothing of it has met data."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        for word in question:
            if word not in _FIELDS:
                raise ArgumentError(
                    f"a question has no field {str(word)[:60]!r}; it has {', '.join(_FIELDS)}", "SRD-A001"
                )
        self.plain = {name: value for name, value in question.items() if value is not None}
        self.dataset = _text_of(self.plain, "dataset", 200)
        if ("sql" in self.plain) == ("calls" in self.plain):
            raise ArgumentError("a question is asked by sql or by calls: give one of them", "SRD-A003")
        self._calls = "calls" in self.plain
        self.text = _text_of(self.plain, "calls" if self._calls else "sql", _LONGEST_SQL)
        self.project = checked_name("project", self.plain["project"]) if "project" in self.plain else None
        self.words = _words(self.plain)

    def ask(self, data: DataAccount) -> Ask:
        """Return the question about a data set; refused with what to write instead if it cannot be answered."""
        return data.calls(self.text) if self._calls else data.sql(self.text)

    @property
    def digest(self) -> str:
        """The digest of all that is asked, which an idempotency key and an approval stand for."""
        spelt = json.dumps(self.plain, sort_keys=True, separators=(",", ":"), default=str)
        return hashlib.sha256(spelt.encode()).hexdigest()


def _text_of(plain: Mapping[str, Any], name: str, longest: int) -> str:
    value = plain.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= longest:
        raise ArgumentError(f"{name} must be a text of 1 to {longest} characters", "SRD-A001")
    if _UNWRITABLE.search(value):
        raise ArgumentError(f"{name} must not hold NUL or halves of characters, which no text can", "SRD-A001")
    return value


def _words(plain: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: rational(name, plain[name], least=least, most=most)
        for name, (least, most) in _AMOUNTS.items()
        if name in plain
    }
    if "error" in plain:
        found["error"] = _goal(plain["error"])
    further = _mapping("words", plain.get("words", {}), _WORDS)
    for name, value in further.items():
        if value is not None:
            found[name] = _READERS[name](name, value) if name in _READERS else value
    return found


def _mapping(where: str, given: Any, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{where} must be an object with some of {', '.join(known)}", "SRD-A001")
    for word in given:
        if word not in known:
            raise ArgumentError(f"{where} has no field {str(word)[:60]!r}; it has {', '.join(known)}", "SRD-A001")
    return given


def _goal(given: Any) -> Any:
    said = dict(_mapping("error", given, ("within", "of", "size", "confidence")))
    if "within" not in said or "of" not in said:
        raise ArgumentError('error must say within and of, as {"within": 5, "of": "rides"}', "SRD-A003")
    amount, of = rational("within", said.pop("within"), least="1e-15", most="1e15"), said.pop("of")
    return within(amount, of, **{name: value for name, value in said.items() if value is not None})


def _flag(name: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise ArgumentError(f"{name} must be true or false", "SRD-A001")
    return given


def _bounding(name: str, given: Any) -> Any:
    said = dict(_mapping(name, given, ("method", "rows", "groups", "rows_per_group")))
    if "method" not in said:
        raise ArgumentError("bounding must say its method: row, sample, weigh, groups or norm", "SRD-A003")
    return bounding(said.pop("method"), **said)


def _weights(name: str, given: Any) -> dict[str, float]:
    if not isinstance(given, Mapping) or not all(isinstance(column, str) for column in given):
        raise ArgumentError(f"{name} must be an object from columns to numbers", "SRD-A001")
    return {column: float(rational(name, weight, least="1e-6", most="1e6")) for column, weight in given.items()}


_READERS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(_FLAGS, _flag),
    "bounding": _bounding,
    "weights": _weights,
}
