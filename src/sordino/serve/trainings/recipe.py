"""A recipe: what a training is asked for by, as plain words, read and checked. Needs no data and no model library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sordino.arguments import one_of, rational, whole
from sordino.data.ownership import unknown
from sordino.errors import ArgumentError
from sordino.learn.run.adaptive import Adaptive, adaptive
from sordino.learn.run.correlation import Banded, banded
from sordino.learn.run.paying import TRANCHES
from sordino.serve.kinds.kind import Plain

from .words import CLIPPINGS, WORDS

MOST_STEPS = 1_000_000
MOST_BATCH = 1_000_000
MOST_COEFFICIENTS = 1000
_RATES = {"sgd": "0.5", "adam": "0.001"}
_MOST = {"batch": MOST_BATCH, "per_owner": MOST_BATCH}


@dataclass(frozen=True)
class Recipe:
    """What is asked for, read and checked as far as that goes without knowing the data set."""

    dataset: str
    project: str | None
    plain: Plain
    """All of it, as it was written."""
    sampling: str
    clipping: str | Adaptive
    correlation: Banded | None
    pay: str
    optimizer: str
    rate: float
    momentum: float

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Recipe:
        """Return the recipe in plain words; refuse what cannot be."""
        for name in given:
            if name not in WORDS:
                raise ArgumentError(f"a recipe has the word {unknown(str(name)[:60], tuple(WORDS))}", "SRD-T202")
        plain = {word: value for word, value in given.items() if value is not None}
        for name, word in WORDS.items():
            if word.needed and name not in plain:
                raise ArgumentError(f"a recipe must say {name}; see the page about trainings in a service", "SRD-T202")
            if name in plain:
                _check(name, plain[name])
        if sum(word in plain for word in ("epsilon", "rho", "noise")) != 1:
            raise ArgumentError(
                "say what the training may spend: epsilon, or rho in an account of zero-concentrated privacy, or the "
                "noise itself; one of the three",
                "SRD-A003",
            )
        optimizer = plain.get("optimizer", "sgd")
        return cls(
            plain["dataset"],
            plain.get("project"),
            plain,
            plain.get("sampling", "poisson"),
            _clipping(plain.get("clipping", "flat")),
            _correlation(plain.get("correlation")),
            plain.get("pay", TRANCHES),
            optimizer,
            float(rational("rate", plain.get("rate", _RATES[optimizer]), above=0, most=1000)),
            float(rational("momentum", plain.get("momentum", "0.9"), least=0, most="0.9999")),
        )

    def word(self, name: str) -> Any:
        """Return what was written under a word, None if nothing was."""
        return self.plain.get(name)


def _check(name: str, value: Any) -> None:
    """Refuse what is not of a word's form, or so large that nothing should be computed from it."""
    word = WORDS[name]
    if word.form == "name" and not isinstance(value, str):
        raise ArgumentError(f"{name} must be a name", "SRD-A001")
    if word.form == "flag" and not isinstance(value, bool):
        raise ArgumentError(f"{name} must be true or false", "SRD-A001")
    if word.form == "choice":
        one_of(name, value, word.choices)
    if word.form == "whole":
        whole(name, value, least=1, most=_MOST.get(name, MOST_STEPS))
    if word.form == "number" and name != "momentum":
        rational(name, value, above=0, most=10**9)


def _clipping(given: Any) -> str | Adaptive:
    if isinstance(given, Mapping):
        return adaptive(**_parts("clipping", given, ("quantile", "rate", "noise")))
    return one_of("clipping", given, CLIPPINGS)


def _correlation(given: Any) -> Banded | None:
    if given is None:
        return None
    if isinstance(given, str):
        one_of("correlation", given, ("banded",))
        return banded()
    said = _parts("correlation", given, ("bands", "coefficients"))
    column = said.get("coefficients")
    if column is not None and not (isinstance(column, list) and len(column) <= MOST_COEFFICIENTS):
        raise ArgumentError(
            f"coefficients must be a list of at most {MOST_COEFFICIENTS:,} whole numbers, as [4, 2, 1]", "SRD-T202"
        )
    return banded(said.get("bands"), coefficients=column)


def _parts(word: str, given: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the parts of a word that has parts; refuse others."""
    if not isinstance(given, Mapping) or not set(given) <= set(names):
        raise ArgumentError(
            f"{word} must be one of its words, or have parts of these names alone: {', '.join(names)}", "SRD-T202"
        )
    return {name: value for name, value in given.items() if value is not None}
