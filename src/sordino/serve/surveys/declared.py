"""A survey as a sort of data: what its declarations say. Nothing lies behind it until people answer.

::

    name: pets
    sort: survey
    unit: participant          # or what the group calls its people
    question: Which pet do you have?
    values: [cat, dog, none]   # or number: {low: 0, high: 120, what: mean}, or words: {longest: 8}
    epsilon: 2                 # of one report
    every_day: {longitudinal: 4, periods: 2, days: 15}   # answers are remembered; left out: fresh coins for each
    per_day: 1
    days: 30
    trust: local               # or shuffled, with batch, delta and shuffler; or two-servers, with servers
    round: 1                   # the next one to ask again, once a round is closed
    intake: open               # or codes: each report needs a one-time code
    way: k-ary                 # to answer; the best one if left out
    shuffler:                  # as `sordino shuffle` tells them
      url: https://shuffler.example.org
      key: …
    servers:                   # the one that takes reports first; `sordino survey key` prints a key
      - {url: https://a.example.org, key: …}
      - {url: https://b.example.org, key: …}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.accounting.bound import Unit
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import one_of
from sordino.data.declarations_file import head
from sordino.errors import ArgumentError

if TYPE_CHECKING:
    from sordino.collect.sealing import PartyKey
    from sordino.collect.surveys import Survey

OPEN, CODES = "open", "codes"
SHUFFLED = "shuffled"
FOLDER = "surveys"
_OF_SURVEY = ("question", "per_day", "days", "trust", "round", "batch", "delta", "group")
_ASKED = ("values", "number", "words")
_WORDS = (*_ASKED, "epsilon", "every_day", "way", "intake", "shuffler", "servers", *_OF_SURVEY)
MOST_VALUES = 10_000


@dataclass(frozen=True)
class Declared:
    """What is declared about a survey: all of it is public."""

    survey: Survey
    intake: str
    directory: Path
    """Where the service has its data; reports lie in it, too."""

    @property
    def name(self) -> str:
        """What the survey is called."""
        return self.survey.name

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self.survey.unit

    @property
    def neighbours(self) -> Neighbours:
        """Replace-one: who takes part is public, what they hold is not."""
        return self.survey.neighbours

    @property
    def folder(self) -> Path:
        """Where the reports of a round lie."""
        return self.directory / FOLDER / self.name / self.survey.digest.hex()

    @property
    def codes(self) -> Path:
        """Where the codes of a round lie: apart from its reports."""
        return self.directory / f"{FOLDER}.codes" / f"{self.survey.digest.hex()}.codes"

    @property
    def key(self) -> PartyKey:
        """This service's own key, by which it is a party of surveys."""
        return own_key(self.directory)

    def public(self) -> dict[str, Any]:
        """Return what everybody is told."""
        found = self.survey
        asked = {
            "question": found.question,
            "values": [str(each) for each in found.public().get("values") or ()],
            "round": found.round,
        }
        often = {"per_day": found.per_day, "days": found.days, "trust": found.trust, "intake": self.intake}
        often |= {"parties": [each.to_plain() for each in found.parties]} if found.parties else {}
        return asked | often | {"protocol": found.randomizer.protocol, "words": found.price(None).words()}


def read(plain: Mapping[str, Any], directory: Path) -> Declared:
    """Return what declarations say; opens nothing."""
    from sordino.collect.surveys import survey

    said, rest = head({"neighbours": "replace-one", **plain}, _WORDS, ("epsilon",))
    if said.neighbours is not Neighbours.REPLACE_ONE:
        raise ArgumentError(
            "a survey is protected under replace-one, as who answers can be seen; leave neighbours out", "SRD-C714"
        )
    words = {name: rest[name] for name in _OF_SURVEY if rest.get(name) is not None}
    found = survey(said.name, _asks(rest), unit=said.unit.name, parties=_parties(rest, directory), **words)
    intake = one_of("intake", rest.get("intake", OPEN), (OPEN, CODES))
    if intake == CODES and found.trust == SHUFFLED:
        raise ArgumentError(
            "reports to a shuffler have no one-time codes: whoever gave them out could tell who is in the batch; "
            "declare intake: open",
            "SRD-C714",
        )
    return Declared(found, intake, directory)


def own_key(directory: Path) -> PartyKey:
    """Return the key of the service whose data lies in a directory; made when it is first asked for."""
    from sordino.collect.sealing import PartyKey

    return PartyKey.at(directory / f"{FOLDER}.key")


def _parties(rest: Mapping[str, Any], directory: Path) -> list[Any]:
    """Return who takes part: the shuffler and this service, or the two servers."""
    servers, shuffler = rest.get("servers"), rest.get("shuffler")
    if servers is not None and (shuffler is not None or not isinstance(servers, list)):
        raise ArgumentError("servers is a list of two, each with url and key, and goes without a shuffler", "SRD-C714")
    if shuffler is not None:
        return [{"url": "", "key": own_key(directory).text}, shuffler]
    return list(servers or ())


def _asks(rest: Mapping[str, Any]) -> Any:
    """Return the question that is declared, by the best way to answer or by the one that is named."""
    asked = [name for name in _ASKED if rest.get(name) is not None]
    if len(asked) != 1:
        raise ArgumentError("a survey declares one of values (a list), number (low, high) and words", "SRD-C714")
    return {"values": _values, "number": _number, "words": _words}[asked[0]](rest)


def _values(rest: Mapping[str, Any]) -> Any:
    from sordino.collect.choice import frequency
    from sordino.collect.daily import every_day

    values = rest["values"]
    if not isinstance(values, list) or not 2 <= len(values) <= MOST_VALUES:
        raise ArgumentError(f"values must be a list of 2 to {MOST_VALUES:,} texts, each once", "SRD-C714")
    if rest.get("every_day") is None:
        return frequency(values, epsilon=rest["epsilon"], way=rest.get("way"))
    if rest.get("way") is not None:
        raise ArgumentError("answers that are remembered have a way of their own; leave way out", "SRD-C714")
    daily = _mapping(rest, "every_day", ("longitudinal", "periods", "days"), ("longitudinal",))
    return every_day(values, epsilon=rest["epsilon"], **daily)


def _number(rest: Mapping[str, Any]) -> Any:
    from sordino.collect.numbers.choice import number

    _only_values(rest)
    words = _mapping(rest, "number", ("low", "high", "what", "steps"), ("low", "high"))
    return number(words.pop("low"), words.pop("high"), epsilon=rest["epsilon"], way=rest.get("way"), **words)


def _words(rest: Mapping[str, Any]) -> Any:
    from sordino.collect.word_question import words

    _only_values(rest, "way")
    return words(epsilon=rest["epsilon"], **_mapping(rest, "words", ("longest", "alphabet"), ()))


def _only_values(rest: Mapping[str, Any], *more: str) -> None:
    for name in ("every_day", *more):
        if rest.get(name) is not None:
            raise ArgumentError(f"{name} goes with values alone; leave it out", "SRD-C714")


def _mapping(rest: Mapping[str, Any], name: str, known: tuple[str, ...], needed: tuple[str, ...]) -> dict[str, Any]:
    """Return the words below a name; none that is not known, all that are needed."""
    found = rest[name]
    if not isinstance(found, Mapping) or not set(needed) <= set(found) <= set(known):
        raise ArgumentError(f"{name} is declared by {', '.join(known)} and nothing else, as {{low: 0}}", "SRD-C714")
    return {word: value for word, value in found.items() if value is not None}
