"""The words of a question: how much to spend on it, how to plan it and how to show its answer. Defined here, once.

Each field of `Words` is a word: its name, its type, its default, how it is read and checked, and one line of help.
`Ask.price`, a service's API, its client, its form and the command line are all made from it.

>>> Words.read({"epsilon": "0.5", "error": None, "confidence": 0.9}).plain()
{'epsilon': '0.5', 'confidence': '0.9'}
>>> Words.read({"epsilom": 1})
Traceback (most recent call last):
sordino.errors.ArgumentError: a question cannot be asked with epsilom; did you mean epsilon? [SRD-A001]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, Literal, ParamSpec, Self, TypeVar

from sordino import keywords
from sordino.arguments import Number, probability, rational
from sordino.errors import ArgumentError

from .answer.answer import Answer
from .estimate.estimate import Linear
from .estimate.shown import Shown
from .model.bounding import Bounding, bounding

P = ParamSpec("P")
W = TypeVar("W")

LEAST_EPSILON = "1e-9"
_REFUSAL = "a question cannot be asked with"
_TYPED_GOAL = re.compile(r"\s*(\S+)\s+of\s+(\S.*?)(?:\s+in groups of\s+(\S+))?\s*")


@dataclass(frozen=True)
class Within:
    """A goal: column `of` is off by at most `amount` with this confidence, in groups of `size` rows or more."""

    amount: Fraction
    of: str
    confidence: Fraction
    size: float | None


def within(amount: Number, of: str, *, confidence: Number = 0.95, size: Number | Answer | None = None) -> Within:
    """Say how far off a column may be. `size` is the smallest group that matters, where the error depends on it.

    An earlier answer may stand for the size: then it is the least count that it shows, at the low end of its interval.
    """
    if not isinstance(of, str):
        raise ArgumentError(f"of must be the name of a column, not {type(of).__name__}", "SRD-A001")
    rows = _least_count(size) if isinstance(size, Answer) else size
    known = None if rows is None else float(rational("size", rows, above=0, most="1e18"))
    exact = rational("amount", amount, above=0, most="1e15")
    return Within(exact, of, probability("confidence", confidence), known)


def _least_count(answer: Answer) -> float:
    for name in answer.noisy_names:
        column = answer.column(name)
        if isinstance(column.bare, Linear | Shown):
            low, _ = answer.interval(name)
            return max(float(low.min()), 1.0)
    raise ArgumentError("the answer given as size has no count; ask for COUNT(*) first, or give a number", "SRD-A003")


@dataclass(frozen=True)
class Word:
    """What a word is beside its name, type and default."""

    form: Literal["number", "flag", "choice", "goal", "bounding", "weights"]
    help: str
    read: Callable[[str, Any], Any]
    """Its value, checked, from what Python or plain JSON gives."""
    choices: tuple[str, ...] = ()

    def typed(self, text: str) -> Any:
        """Return what JSON would hold, from what somebody typed into a form or a command."""
        return _TYPED[self.form](text.strip())


def _goal(_: str, given: Any) -> Within:
    if isinstance(given, Within):
        return given
    said = _known("error", given, ("within", "of", "size", "confidence"), 'a goal such as within(0.05, of="fare")')
    if "within" not in said or "of" not in said:
        raise ArgumentError('error must say within and of, as {"within": 5, "of": "rides"}', "SRD-A003")
    return within(said.pop("within"), said.pop("of"), **said)


def _bounding(_: str, given: Any) -> Bounding:
    if isinstance(given, Bounding):
        return given
    names = ("method", "rows", "groups", "rows_per_group")
    said = _known("bounding", given, names, 'a way such as bounding("weigh", rows=3)')
    if "method" not in said:
        raise ArgumentError("bounding must say its method: row, sample, weigh, groups or norm", "SRD-A003")
    return bounding(said.pop("method"), **said)


def _weights(name: str, given: Any) -> dict[str, float]:
    if not isinstance(given, Mapping) or not all(isinstance(column, str) for column in given):
        raise ArgumentError(f"{name} must be an object from columns to numbers", "SRD-A001")
    return {column: float(rational(name, weight, least="1e-6", most="1e6")) for column, weight in given.items()}


def _flag(name: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise ArgumentError(f"{name} must be True or False", "SRD-A001")
    return given


def _mechanism(name: str, given: Any) -> str:
    if given not in ("laplace", "gaussian"):
        raise ArgumentError(f'{name} must be "laplace" or "gaussian", or left out for the better one', "SRD-A002")
    return str(given)


def _known(where: str, given: Any, names: Iterable[str], wanted: str) -> dict[str, Any]:
    """Return what is given and not null, if it is a mapping of these names alone."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{where} must be {wanted}", "SRD-A001")
    for name in given:
        if name not in names:
            raise ArgumentError(f"{where} has no field {str(name)[:60]!r}; it has {', '.join(names)}", "SRD-A001")
    return {name: value for name, value in given.items() if value is not None}


def _said(word: Word) -> dict[str, Any]:
    """Return what a field holds beside its type and default."""
    return {"word": word, "help": word.help}


def _amount(words: str, least: str, most: str) -> dict[str, Any]:
    return _said(Word("number", words, partial(rational, least=least, most=most)))


def _switch(words: str) -> dict[str, Any]:
    return _said(Word("flag", words, _flag))


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words of one question, read and checked. Amounts and confidence are exact once they are read."""

    epsilon: Number | None = field(
        default=None, metadata=_amount("What to spend: ε of the whole question.", LEAST_EPSILON, "1e4")
    )
    rho: Number | None = field(
        default=None, metadata=_amount("What to spend: ρ of the whole question.", "1e-12", "1e4")
    )
    error: Within | None = field(
        default=None,
        metadata=_said(Word("goal", 'Or how far off it may be: "0.05 of fare in groups of 100".', _goal)),
    )
    noise: Number | None = field(
        default=None, metadata=_amount("Or the standard deviation of the noise in a count.", "1e-6", "1e15")
    )
    delta: Number | None = field(
        default=None, metadata=_amount("δ of the question, for partition selection and Gaussian noise.", "1e-18", "1")
    )
    weights: Mapping[str, float] | None = field(
        default=None,
        metadata=_said(Word("weights", 'How much the error of each column matters: "fare=2 rides=1".', _weights)),
    )
    bounding: Bounding | None = field(
        default=None,
        metadata=_said(Word("bounding", 'Another way to bound contributions: "weigh rows=3".', _bounding)),
    )
    mechanism: Literal["laplace", "gaussian"] | None = field(
        default=None,
        metadata=_said(Word("choice", "The noise, instead of the better one.", _mechanism, ("laplace", "gaussian"))),
    )
    find: bool = field(
        default=True, metadata=_switch("Whether missing bounds are found for a part of the price, or refused.")
    )
    truncation: bool = field(
        default=False,
        metadata=_switch("Also estimate, for a part of the price, how much bounding cuts off: rows, and of each sum."),
    )
    intervals: bool = field(
        default=True, metadata=_switch("Whether quantiles, minima and maxima pay for intervals of their own.")
    )
    confidence: Number = field(
        default=0.95, metadata=_said(Word("number", "The confidence of intervals.", probability))
    )
    integers: bool = field(default=False, metadata=_switch("Round counts to whole numbers."))
    non_negative: bool = field(
        default=False, metadata=_switch("Raise counts, and sums of what is not negative, to 0 at least.")
    )
    consistent: bool = field(default=True, metadata=_switch("Let the levels of a ROLLUP add up."))

    def __post_init__(self) -> None:
        for name, word in WORDS.items():
            given = getattr(self, name)
            if given is not None or DEFAULTS[name] is not None:
                object.__setattr__(self, name, word.read(name, given))
        if sum(each is not None for each in (self.epsilon, self.rho, self.error, self.noise)) > 1:
            raise ArgumentError("give one of epsilon, rho, error and noise, not several", "SRD-A003")

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Self:
        """Return the words that plain JSON says; null is as if it were left out.

        A goal without a confidence of its own has that of the question's intervals.
        """
        check_names(plain, WORDS)
        given = {name: value for name, value in plain.items() if value is not None}
        goal = given.get("error")
        if isinstance(goal, Mapping) and "confidence" in given:
            given["error"] = {"confidence": given["confidence"], **goal}
        return cls(**given)

    def plain(self) -> dict[str, Any]:
        """Return what JSON can hold and `read` reads as the same; what is as usual is left out."""
        usual = Words()
        said = {name: getattr(self, name) for name in WORDS}
        return {name: _plain(value) for name, value in said.items() if value != getattr(usual, name)}


WORDS: dict[str, Word] = {each.name: each.metadata["word"] for each in fields(Words)}
"""All words, by name."""
DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(Words)}


def check_names(given: Iterable[Any], known: Iterable[str]) -> None:
    """Refuse a name that is not known, and say which one is close to it."""
    keywords.check_names(given, known, _REFUSAL)


def takes(words: Callable[P, W]) -> keywords.Taking[P, W]:
    """Let a method of one argument, the words, take each of them as a keyword: typed, and listed by `help`."""
    return keywords.takes(words, _REFUSAL)


def _typed_flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ArgumentError("a switch is true or false", "SRD-A001")
    return text == "true"


def _typed_goal(text: str) -> dict[str, Any]:
    read = _TYPED_GOAL.fullmatch(text)
    if read is None:
        raise ArgumentError('an error reads "0.05 of fare": how far off, and of which column', "SRD-A001")
    return {"within": read[1], "of": read[2]} | ({} if read[3] is None else {"size": read[3]})


def _typed_pairs(text: str) -> dict[str, str]:
    pairs = [each.partition("=") for each in text.split()]
    if not all(name and value for name, _, value in pairs):
        raise ArgumentError("this reads as pairs, such as fare=2 rides=1", "SRD-A001")
    return {name: value for name, _, value in pairs}


def _typed_bounding(text: str) -> dict[str, Any]:
    method, _, limits = text.partition(" ")
    if not all(value.isdecimal() for value in _typed_pairs(limits).values()):
        raise ArgumentError("limits are whole numbers, as in weigh rows=3", "SRD-A001")
    return {"method": method} | {name: int(value) for name, value in _typed_pairs(limits).items()}


_TYPED: dict[str, Callable[[str], Any]] = {
    "number": str,
    "choice": str,
    "flag": _typed_flag,
    "goal": _typed_goal,
    "weights": _typed_pairs,
    "bounding": _typed_bounding,
}


def _plain(value: Any) -> Any:
    """Return what JSON can hold; exact numbers as texts."""
    match value:
        case Within():
            goal = {"within": _decimal(value.amount), "of": value.of, "confidence": _decimal(value.confidence)}
            return goal | ({} if value.size is None else {"size": value.size})
        case Bounding():
            return {"method": value.method} | value.limits
        case Fraction():
            return _decimal(value)
    return value


def _decimal(exact: Fraction) -> str:
    """Return the decimal text of a fraction; services read decimals alone, so that what is charged is what is said."""
    text = f"{Decimal(exact.numerator) / Decimal(exact.denominator):f}"
    if Fraction(text) != exact:
        raise ArgumentError(f"{exact} has no short decimal, and a service reads decimals; give one", "SRD-A001")
    return text
