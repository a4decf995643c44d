"""From what a publication may spend to what its recipe has to work with: pure ε, or ρ.

ε given is ε spent. What an account is charged is, in this order:

* `rho`: ρ, in accounts that count by it or in Rényi columns.
* `epsilon` with `delta`, or where all of the account's δ is set aside for such: the whole is `Declared` at (ε, δ),
  with that δ as its own; ρ is the most that is proven to stay within. Where all noise is Gaussian and fixed
  beforehand, the proof is that of Gaussian noise itself, which gives more.
* `epsilon` alone, in an account of (ε, δ), for a recipe with Gaussian noise: the most ρ that uses up whole a budget
  of its own of (ε, the account's δ), in the account's manner.
* `epsilon` alone else: pure ε.

**Guarantee**: a recipe whose mechanisms stay within `epsilon` (pure), or within `rho`, is priced at no more than was
said, by events that say what is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from sordino.accounting.budget import Budget
from sordino.accounting.calibration import least_noise
from sordino.accounting.declared import declare
from sordino.accounting.event import Event
from sordino.accounting.events import Concentrated, Declared, Gaussian, Pure
from sordino.accounting.filter import Filter
from sordino.accounting.own_budget import Build, own_budget, used_whole
from sordino.errors import ArgumentError

Form = Literal["pure", "concentrated"]
_FINEST = 10**12


@dataclass(frozen=True)
class Spend:
    """What a recipe has to work with: pure `epsilon`, or `rho`; and the (ε, δ) that ρ is declared at, if it is."""

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    declared_epsilon: Fraction | None = None
    declared_delta: Fraction = Fraction(0)

    @property
    def is_pure(self) -> bool:
        """Whether mechanisms must be pure, and their ε add up."""
        return self.epsilon is not None

    @property
    def amount(self) -> Fraction:
        """ε or ρ."""
        return self.epsilon if self.epsilon is not None else self.rho  # type: ignore[return-value]

    def claim(self) -> Event:
        """Return what is claimed of all mechanisms together where they adapt to each other's results."""
        return Pure(self.epsilon) if self.epsilon is not None else Concentrated(self.rho)  # type: ignore[arg-type]

    def inner(self) -> Budget:
        """Return the budget that all mechanisms share: exactly what is claimed."""
        return Budget(epsilon=self.epsilon) if self.epsilon is not None else Budget(rho=self.rho)

    def charged(self, event: Event) -> Event:
        """Return what an account is charged for `event`, which stays within this."""
        if not self.declared_delta or self.declared_epsilon is None:
            return event
        return Declared(event, self.declared_delta, self.declared_epsilon)

    def part(self, share: Fraction) -> Spend:
        """Return a share of the same, rounded down: what one of several measurements may use."""
        amount = Fraction(int(self.amount * share * _FINEST), _FINEST) or self.amount * share
        return Spend(epsilon=amount) if self.is_pure else Spend(rho=amount)

    def __str__(self) -> str:
        if self.declared_epsilon is not None:
            return f"ε = {float(self.declared_epsilon):.6g}, δ = {float(self.declared_delta):.3g}"
        return f"ε = {float(self.epsilon):.6g}" if self.epsilon is not None else f"ρ = {float(self.amount):.6g}"


def spend_of(
    account: Budget | None,
    epsilon: Fraction | None,
    delta: Fraction | None,
    rho: Fraction | None,
    *,
    forms: tuple[Form, ...],
    adapts: bool,
) -> Spend:
    """Return what a recipe of these forms has to work with; refuse, before anything is priced, what it cannot use.

    `adapts` says that later mechanisms depend on earlier results, so that only a claim covers all of them.
    """
    if rho is not None:
        _need("concentrated", forms, "rho=…")
        return Spend(rho=_whole(rho))
    assert epsilon is not None  # noqa: S101  (the words have one of the two)
    if delta is not None:
        _need("concentrated", forms, "delta=…")
        return _declared(epsilon, delta, adapts=adapts)
    if account is not None and account.delta and account.own_delta_share == 1:
        return (
            _declared(epsilon, account.delta, adapts=adapts)
            if "concentrated" in forms
            else Spend(epsilon=_whole(epsilon))
        )
    renyi = account is not None and account.calculus == "renyi"
    if "concentrated" in forms and (renyi or "pure" not in forms):
        if account is not None and not renyi:
            raise ArgumentError(
                "this recipe has no pure form, and this account's budget is pure ε, or ρ: open one with "
                "budget(epsilon=…, delta=…), or with budget(rho=…) and say rho=…",
                "SRD-A003",
            )
        own = own_budget(account, epsilon, None, None)
        return Spend(rho=_rho(used_whole(_build(adapts), Filter.open(own))))
    return Spend(epsilon=_whole(epsilon))


def _need(form: Form, forms: tuple[Form, ...], word: str) -> None:
    if form not in forms:
        raise ArgumentError(f"this recipe is pure: it needs epsilon=… alone, without {word}", "SRD-A003")


@lru_cache(maxsize=256)
def _declared(epsilon: Fraction, delta: Fraction, *, adapts: bool) -> Spend:
    multiplier = least_noise(_build(adapts), lambda event: declare(event, delta).epsilon, epsilon)
    return Spend(rho=_rho(multiplier), declared_epsilon=epsilon, declared_delta=delta)


def _build(adapts: bool) -> Build:
    return _concentrated if adapts else _gaussian


def _gaussian(multiplier: Fraction) -> Event:
    return Gaussian(multiplier**2)


def _concentrated(multiplier: Fraction) -> Event:
    return Concentrated(1 / (2 * multiplier**2))


def _whole(amount: Fraction) -> Fraction:
    """Return an amount in the units that accounts count in, rounded down: a cap must not be below what uses it up."""
    return Fraction(int(amount * _FINEST), _FINEST)


def _rho(multiplier: Fraction) -> Fraction:
    """Return ρ of Gaussian noise of this multiple of its sensitivity, rounded down to a short fraction."""
    exact = 1 / (2 * multiplier**2)
    return _whole(exact) or exact
