"""The laws that every mechanism keeps, as checks that anyone can run on a mechanism of their own.

    from sordino.mechanisms.laws import Case, check_mechanism
    check_mechanism(Case("mine", build, bound, value, neighbour))

==========  ============================================================================================================
count       n at once cost n times, in each calculus that knows the event
order       no accountant is below what two neighbours certainly lose
identity    sampling at rate 1 is no sampling
monotone    more noise, less cost
power       outcomes fit the claimed noise and do not fit 0.7 or 1.3 times as much
audit       ε measured on two neighbours is never above the claim, nor far below it where that can be shown
silence     refusals come before the grant is used, and no data is in errors or in what is printed
grant       no release without a fresh grant for just this event
frozen      it only stores parameters, and a release changes nothing
json        the event survives its canonical text
error       the error bar is finite, and grows with confidence and with noise
==========  ============================================================================================================

A law that is kept on one case is evidence, not proof: the proof stands in the mechanism's docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .law_case import BrokenLawError, Case
from .law_contract import error_law, frozen_law, grant_law, json_law, silence_law
from .law_draws import audit, audit_law, power_law
from .law_prices import count_law, identity_law, monotone_law, order_law

__all__ = ["LAWS", "BrokenLawError", "Case", "audit", "check_mechanism", "laws"]

LAWS: dict[str, Callable[[Case], None]] = {
    "count": count_law,
    "order": order_law,
    "identity": identity_law,
    "monotone": monotone_law,
    "power": power_law,
    "audit": audit_law,
    "silence": silence_law,
    "grant": grant_law,
    "frozen": frozen_law,
    "json": json_law,
    "error": error_law,
}
"""Every law by name; each is a function of a `Case` that raises `BrokenLawError`."""


def laws(case: Case) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the name of each law and the check of it on `case`, to be run one by one."""
    for name, law in LAWS.items():
        yield name, lambda law=law: law(case)  # type: ignore[misc]


def check_mechanism(case: Case) -> None:
    """Run every law on `case`; raise `BrokenLawError` with all that it breaks."""
    broken = []
    for _, check in laws(case):
        try:
            check()
        except BrokenLawError as error:
            broken.append(str(error))
    if broken:
        raise BrokenLawError(f"{case.name}: " + "; ".join(broken))
