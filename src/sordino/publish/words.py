"""The words of a publication: how much to spend on it, and how sure its intervals are. Defined here, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ParamSpec, Self, TypeVar

from sordino import keywords
from sordino.arguments import Number, probability, rational
from sordino.errors import ArgumentError
from sordino.keywords import word
from sordino.query.words import Within, within

P = ParamSpec("P")
W = TypeVar("W")

_REFUSAL = "a publication cannot be asked for with"


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words of one publication, read and checked: amounts are exact once they are read."""

    epsilon: Number | None = field(default=None, metadata=word("what to spend: ε of the whole publication."))
    rho: Number | None = field(default=None, metadata=word("what to spend: ρ of the whole publication."))
    delta: Number | None = field(
        default=None, metadata=word("the δ that goes with `epsilon`: the whole is then charged as (ε, δ).")
    )
    error: Within | None = field(
        default=None, metadata=word("or how far off it may be: `so.within(0.05, of=…)`, of a line of the price.")
    )
    confidence: Number = field(default=0.95, metadata=word("the confidence of intervals."))

    def __post_init__(self) -> None:
        for name, most in (("epsilon", "1e4"), ("rho", "1e4")):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, rational(name, given, least="1e-9", most=most))
        if self.delta is not None:
            object.__setattr__(self, "delta", probability("delta", self.delta))
        object.__setattr__(self, "confidence", probability("confidence", self.confidence))
        if self.error is not None and not isinstance(self.error, Within):
            raise ArgumentError("error must be so.within(0.05, of=…), with a line of the price", "SRD-A001")
        if sum(each is not None for each in (self.epsilon, self.rho, self.error)) != 1:
            raise ArgumentError("say what to spend: one of epsilon=…, rho=… and error=within(…, of=…)", "SRD-A003")
        if self.rho is not None and self.delta is not None:
            raise ArgumentError("rho needs no delta: leave it out, or say epsilon=… and delta=…", "SRD-A003")

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Self:
        """Return the words that plain JSON says; null is as if it were left out."""
        names = [each.name for each in fields(cls)]
        keywords.check_names(plain, names, _REFUSAL)
        given = {name: value for name, value in plain.items() if value is not None}
        goal = given.get("error")
        if isinstance(goal, Mapping):
            keywords.check_names(goal, ("within", "of", "confidence"), "an error cannot be said with")
            given["error"] = within(
                goal.get("within", 0), goal.get("of", ""), confidence=goal.get("confidence", cls.confidence)
            )
        return cls(**given)

    def plain(self) -> dict[str, Any]:
        """Return what JSON can hold and `read` reads as the same; what is as usual is left out."""
        said: dict[str, Any] = {
            name: None if (value := getattr(self, name)) is None else str(value) for name in ("epsilon", "rho", "delta")
        }
        if self.error is not None:
            goal = self.error
            said["error"] = {"within": str(goal.amount), "of": goal.of, "confidence": str(goal.confidence)}
        said["confidence"] = str(self.confidence)
        return {name: value for name, value in said.items() if value is not None}


def takes(words: Callable[P, W]) -> keywords.Taking[P, W]:
    """Let a function whose last argument is the words take each of them as a keyword."""
    return keywords.takes(words, _REFUSAL)
