"""Why a report is refused: for each report of a batch a small number, 0 for those that are not.

Nobody else's report suffers: a batch goes on without those that are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from sordino.errors import ArgumentError


class Refusal(IntEnum):
    """Why a report was refused; ``ACCEPTED`` where it was not."""

    ACCEPTED = 0
    MALFORMED = 1
    UNUSABLE_POINT = 2
    NO_MESSAGE = 3
    FALSE_PROOF = 4
    JOINT_RANDOMNESS = 5
    REPEATED = 6

    def error(self) -> ArgumentError:
        """Return what is raised where a single report is refused."""
        return _ERRORS[self]()


_ERRORS: dict[Refusal, Callable[[], ArgumentError]] = {
    Refusal.MALFORMED: lambda: ArgumentError(
        "a nonce, public share or input share has not the length of this survey, or a number in it is not in the "
        "field; the report was made for another survey or damaged, so make it anew",
        "SRD-C301",
    ),
    Refusal.UNUSABLE_POINT: lambda: ArgumentError(
        "the random point of the check is one at which it would tell something, which happens to one report in 2⁵⁰; "
        "make the report anew",
        "SRD-C302",
    ),
    Refusal.NO_MESSAGE: lambda: ArgumentError(
        "the other server's message is missing, malformed or of another step; exchange the messages of a report in "
        "their order, and drop the report where the other server refused it",
        "SRD-C303",
    ),
    Refusal.FALSE_PROOF: lambda: ArgumentError(
        "the proof does not hold: the measurement is none that the survey allows, or the shares belong to different "
        "reports; drop the report",
        "SRD-C304",
    ),
    Refusal.JOINT_RANDOMNESS: lambda: ArgumentError(
        "the servers derived different joint randomness, so the public share is not that of the input shares; drop the "
        "report",
        "SRD-C305",
    ),
    Refusal.REPEATED: lambda: ArgumentError(
        "a report with this nonce was counted before; count each report once", "SRD-C306"
    ),
}

Reasons = NDArray[np.uint8]
"""A `Refusal` for each report."""


def none_refused(count: int) -> Reasons:
    """Return no reason for each of so many reports."""
    return np.zeros(count, np.uint8)


def accepted(reasons: Reasons) -> NDArray[np.bool_]:
    """Return who is not refused."""
    found: NDArray[np.bool_] = reasons == Refusal.ACCEPTED
    return found


def refused(reasons: Reasons, unless: NDArray[np.bool_], reason: Refusal) -> Reasons:
    """Return the reasons with this one for those not refused before and not excused by `unless`."""
    return np.where((reasons == 0) & ~unless, np.uint8(reason), reasons)


def raise_for(reason: int) -> None:
    """Raise the error of a refusal, or do nothing for a report that is accepted."""
    if reason:
        raise Refusal(reason).error()
