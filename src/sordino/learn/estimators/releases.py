"""The one door through which a fit gets anything of the data: the noisy sums of its plan."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.grant import Grant
from sordino.errors import GrantError
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.partition import GaussianThreshold, LaplaceThreshold, Selected

from .plan import EstimatorPlan, Noisy

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


class Releases:
    """What a charged plan may still release. Using it up takes the plan's own grant."""

    def __init__(self, plan: EstimatorPlan, grant: Grant) -> None:
        grant.use_for(plan)
        self.plan = plan
        self._left = {each.name: each.times for each in plan.sums}

    def noisy(self, name: str, steps: Whole) -> Floats:
        """Return a sum, given in whole steps of its grid, with noise, in its own measure."""
        each = self._taken(name)
        mechanism = additive(each)
        found: Floats = np.asarray(mechanism.grid.from_steps(mechanism.release_steps(steps, _grant(each))), dtype=float)
        return found

    def kept(self, name: str, counts: Whole) -> Selected:
        """Return which of some named places may be shown, and their noisy counts."""
        each = self._taken(name)
        if not isinstance(each.mechanism, GaussianThreshold | LaplaceThreshold):
            raise GrantError("these places are not named by data; release their sums", "SRD-G002")
        return each.mechanism.release(counts, _grant(each))

    def has(self, name: str) -> bool:
        """Return whether the plan has such a sum."""
        return name in self._left

    def deviation(self, name: str) -> float:
        """Return the standard deviation of a sum's noise: public."""
        return float(np.sqrt(self.of(name).mechanism.variance_of_error))

    def of(self, name: str) -> Noisy:
        """Return a sum of the plan."""
        return next(each for each in self.plan.sums if each.name == name)

    def _taken(self, name: str) -> Noisy:
        if not self._left.get(name):
            raise GrantError("this plan holds no more releases of that name", "SRD-G001")
        self._left[name] -= 1
        return self.of(name)


def additive(each: Noisy) -> Gaussian | Laplace:
    """Return the mechanism of a sum, which adds noise to every place."""
    mechanism = each.mechanism
    return mechanism if isinstance(mechanism, Gaussian | Laplace) else mechanism.counting


def _grant(each: Noisy) -> Grant:
    """Return a grant for one release; the plan's own grant was used for all of them."""
    return Grant(each.once, each.bound)
