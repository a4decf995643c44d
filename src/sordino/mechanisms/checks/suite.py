"""The checks that every mechanism passes, which anyone can run on a mechanism of their own.

    from sordino.mechanisms.checks import Case, check_mechanism
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

A check that is passed on one case is evidence, not proof: the proof stands in the mechanism's docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .case import Case, FailedCheckError
from .contract import error_check, frozen_check, grant_check, json_check, silence_check
from .draws import audit, audit_check, power_check
from .prices import count_check, identity_check, monotone_check, order_check

__all__ = ["CHECKS", "Case", "FailedCheckError", "audit", "check_mechanism", "checks"]

CHECKS: dict[str, Callable[[Case], None]] = {
    "count": count_check,
    "order": order_check,
    "identity": identity_check,
    "monotone": monotone_check,
    "power": power_check,
    "audit": audit_check,
    "silence": silence_check,
    "grant": grant_check,
    "frozen": frozen_check,
    "json": json_check,
    "error": error_check,
}
"""Every check by name; each is a function of a `Case` that raises `FailedCheckError`."""


def checks(case: Case) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the name of each check and the call of it on `case`, to be run one by one."""
    for name, check in CHECKS.items():
        yield name, lambda check=check: check(case)  # type: ignore[misc]


def check_mechanism(case: Case) -> None:
    """Run every check on `case`; raise `FailedCheckError` with all that it breaks."""
    broken = []
    for _, check in checks(case):
        try:
            check()
        except FailedCheckError as error:
            broken.append(str(error))
    if broken:
        raise FailedCheckError(f"{case.name}: " + "; ".join(broken))
