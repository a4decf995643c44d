"""Budgets: what may be spent in all, exactly. A budget is a frozen value; accounts and ledgers keep it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Literal

from sordino.arguments import Number, rational
from sordino.errors import ArgumentError

from .units import PER_DELTA, PER_EPSILON, cap_rounded_down

Calculus = Literal["pure", "zcdp", "renyi"]
"""The calculi in which a budget can be kept while analysts steer by what they have seen."""

DEFAULT_OWN_DELTA_SHARE = Fraction(1, 4)

_EXACT = re.compile(r"[0-9]{1,4000}(/[0-9]{1,4000})?")  # as long as an argument can be


@dataclass(frozen=True)
class Budget:
    """A cap on the privacy loss of everything released from one account, whoever asks and in whatever order.

    ``Budget(epsilon=1)``               pure ε: costs add up.
    ``Budget(rho=0.5)``                 zero-concentrated: costs in ρ add up. With `delta`, events that bring a δ of
                                        their own may spend that much of it in all.
    ``Budget(epsilon=1, delta=1e-6)``   (ε, δ), kept by a Rényi filter.

    `own_delta_share` is the part of an (ε, δ) budget's δ that is set aside for events with a δ of their own (partition
    selection, shuffling, smooth sensitivity); the Rényi orders use the rest. A quarter by default: setting it aside
    costs Gaussian and Laplace queries about 2 % of what they could spend at δ = 10⁻⁶. With 0 no such event is ever
    admitted; with 1 the budget is kept by plain addition of ε and δ.

    All fields are exact: decimals are read as written.

    >>> Budget(epsilon=0.1).epsilon
    Fraction(1, 10)
    """

    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    own_delta_share: Fraction = DEFAULT_OWN_DELTA_SHARE

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise ArgumentError(
                "a budget is epsilon (with or without delta) or rho: give one of the two, for example "
                "Budget(epsilon=1, delta=1e-6)",
                "SRD-A003",
            )
        name = "rho" if self.epsilon is None else "epsilon"
        cap_rounded_down(name, getattr(self, name), PER_EPSILON)
        self._read(name, rational(name, getattr(self, name), above=0))
        self._read("delta", rational("delta", self.delta, least=0))
        if self.delta:
            cap_rounded_down("delta", self.delta, PER_DELTA)
        if self.delta >= 1:
            raise ArgumentError("delta must be below 1: a δ of 1 promises nothing at all", "SRD-A002")
        self._read("own_delta_share", rational("own_delta_share", self.own_delta_share, least=0, most=1))
        if self.calculus != "renyi" and self.own_delta_share != DEFAULT_OWN_DELTA_SHARE:
            raise ArgumentError(
                "own_delta_share divides the delta of an (epsilon, delta) budget; this budget has nothing to divide",
                "SRD-A003",
            )

    def _read(self, name: str, value: Fraction) -> None:
        object.__setattr__(self, name, value)

    @property
    def calculus(self) -> Calculus:
        """The calculus of the filter that keeps this budget."""
        if self.epsilon is None:
            return "zcdp"
        return "renyi" if self.delta else "pure"

    @property
    def own_delta_cap(self) -> int:
        """The δ, in units, that events which bring a δ of their own may spend in all (rounded down)."""
        share = self.own_delta_share if self.calculus == "renyi" else 1
        return math.floor(self.delta * share * PER_DELTA)

    @property
    def rest_delta(self) -> Fraction:
        """The δ that is left for the conversion of Rényi divergences, exactly."""
        return self.delta - Fraction(self.own_delta_cap, PER_DELTA)

    def to_json(self) -> str:
        """Return the canonical JSON text: sorted keys, no white space, numbers as exact texts."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {name: str(value) for name, value in given.items() if value is not None}
        return json.dumps(plain, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Budget:
        """Return the budget that a canonical text describes; refuse anything else."""
        try:
            body = json.loads(text)
            known = {field.name for field in fields(cls)}
            if not isinstance(body, dict) or not set(body) <= known:
                raise ValueError("not the fields of a budget")
            budget = cls(**{name: _fraction(value) for name, value in body.items()})
        except (RecursionError, TypeError, ValueError, ZeroDivisionError) as error:
            if isinstance(error, ArgumentError):
                raise
            raise ArgumentError("this text does not describe a budget of sordino", "SRD-A001") from error
        if budget.to_json() != text:  # a field given twice, a fraction not in lowest terms, white space
            raise ArgumentError("this text describes a budget, but not in the canonical form", "SRD-A001")
        return budget

    def __str__(self) -> str:
        if self.epsilon is None:
            return f"ρ = {_decimal(self.rho)}" + (f", δ = {_decimal(self.delta)}" if self.delta else "")
        return f"ε = {_decimal(self.epsilon)}" + (f", δ = {_decimal(self.delta)}" if self.delta else "")


def budget(
    epsilon: Number | None = None,
    delta: Number = 0,
    *,
    rho: Number | None = None,
    own_delta_share: Number = DEFAULT_OWN_DELTA_SHARE,
) -> Budget:
    """Return the `Budget` of the numbers given, read as the decimals that were written.

    >>> budget(epsilon=1, delta=1e-6).delta
    Fraction(1, 1000000)
    """
    return Budget(
        epsilon=None if epsilon is None else rational("epsilon", epsilon),
        delta=rational("delta", delta),
        rho=None if rho is None else rational("rho", rho),
        own_delta_share=rational("own_delta_share", own_delta_share),
    )


def _fraction(value: Any) -> Fraction:
    if not isinstance(value, str) or not _EXACT.fullmatch(value):
        raise ValueError("numbers in a budget are exact texts")
    return Fraction(value)


def _decimal(value: Fraction | None) -> str:
    return f"{float(value or 0):.12g}"
