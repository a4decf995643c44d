"""What all private estimators share: an account that they hold, a plan that they charge, attributes that they learn.

They keep scikit-learn's contract: `__init__` only stores, `fit` learns, clones and pipelines work. Four words say what
a fit spends: `epsilon` (with `delta`, the account's if left out), or `rho` with ``epsilon=None``, out of `budget`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, validate_data

from sordino.accounting.grant import Grant
from sordino.accounting.work import muted
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError

from .bounds import Bounds, declared_bounds
from .finding import bounds_sum, classes_sum, find_bounds, find_classes, numbered, sorted_classes
from .plan import EstimatorPlan, Fitted, Sum
from .releases import Floats, Releases, Whole
from .spending import Spending, checked_account, spending_of
from .targets import cells_unsaid
from .whole_rows import as_floats

_MUTE = "the model could not be fitted; what was charged stays charged. Try it on made-up rows of the same shape"

Learned = dict[str, Any]


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator whose fits are charged to `budget`, the account of the data.

    Clones spend from the same account. Copies of other kinds, pickled ones and those in other processes, keep what was
    learned and have no account, so they cannot fit. Its words are the fields of a dataclass, and so are those of what
    derives from it: scikit-learn reads them from the signature that this makes.
    """

    epsilon: Any = 1.0
    budget: DataAccount[Any] | None = None
    delta: Any = None
    rho: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "budget": None}

    def _spending(self) -> Spending:
        """Return what a fit may spend; refused before anything is charged."""
        return spending_of(self.budget, self.epsilon, self.delta, self.rho)

    def _rows(self, X: Any, *, reset: bool = True) -> Floats:
        """Return what was handed over as floats; how many columns there are is public, no cell is ever said."""
        return as_floats(
            cells_unsaid(lambda: validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=reset))
        )

    def _plan(self, spending: Spending, sums: list[Sum], words: Mapping[str, Any], verb: str = "") -> EstimatorPlan:
        account = checked_account(self.budget)
        said = {"columns": self.n_features_in_, **words}
        return EstimatorPlan(account.protected.name, type(self).__name__ + verb, said, spending.priced(sums))

    def _carry_out(self, plan: EstimatorPlan, run: Callable[[Releases], Learned]) -> Fitted:
        """Charge the plan, run it muted, and settle what it learned."""

        def carried(grant: Grant) -> Fitted:
            releases = Releases(plan, grant)
            with np.errstate(all="ignore"):  # a warning would say something about some value
                return Fitted(plan, muted(lambda: run(releases), _MUTE))

        return checked_account(self.budget).carry_out(plan, carried)

    def _learn(self, plan: EstimatorPlan, run: Callable[[Releases], Learned]) -> Self:
        return self._keep(self._carry_out(plan, run))

    def _keep(self, fitted: Fitted) -> Self:
        for name, value in fitted.learned.items():
            setattr(self, name, value)
        self.receipt_ = fitted.receipt
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class Boxed(PrivateEstimator):
    """An estimator of columns that lie between bounds, which are declared or found for a tenth of what is spent."""

    bounds: Any = None

    def _declared(self, columns: int) -> Bounds | None:
        return declared_bounds("bounds", self.bounds, columns)

    def _found(self, rows: Floats, releases: Releases, declared: Bounds | None) -> Bounds:
        """Return the declared bounds, or those that are found; a column where nothing is found has ±1."""
        if declared is not None:
            return declared
        low, high = find_bounds(rows, releases)
        return Bounds(np.where(np.isnan(low), -1.0, low), np.where(np.isnan(high), 1.0, high))


@dataclass(eq=False, repr=False, kw_only=True)
class Labelled(PrivateEstimator):
    """A classifier, whose classes are declared or found for a tenth of what is spent."""

    classes: Any = None

    def _labels(self, X: Any, y: Any) -> NDArray[Any]:
        """Return labels as an array with a row for each of `X`; refused by their type, never by a value.

        What has no type of NumPy's (lists, columns that may hold NA) is taken label by label: as one array, a single
        text among numbers would make texts of everybody's, and a single fraction or NA would make floats.
        """
        typed = y is None or isinstance(getattr(y, "dtype", None), np.dtype)
        labels = np.asarray(column_or_1d(y if typed else np.asarray(y, dtype=object), warn=True))
        check_consistent_length(X, labels)
        if labels.dtype.kind == "c" or (labels.dtype.kind == "f" and self.classes is None):
            raise ArgumentError(
                "Unknown label type: labels of type float may be anything, and whether they are whole is in the data; "
                "declare classes=[…], or hand over ints or texts",
                "SRD-A001",
            )
        return labels

    def _declared_classes(self) -> NDArray[Any] | None:
        if self.classes is None:
            return None
        given = np.asarray(self.classes)
        if given.ndim != 1 or not len(given) or len(set(given.tolist())) != len(given):
            raise ArgumentError("classes must be one list of labels, each of them once", "SRD-A001")
        return sorted_classes(given.tolist(), given.dtype)

    def _found_classes(
        self, labels: NDArray[Any], releases: Releases, declared: NDArray[Any] | None
    ) -> tuple[NDArray[Any], Whole]:
        """Return the classes, and the place of each row's label among them, −1 for none."""
        classes = find_classes(labels, releases) if declared is None else declared
        return classes, numbered(labels, classes)


def finding_sums(*, bounds: int | None, classes: bool) -> list[Sum]:
    """Return the sums that find what was not declared: the bounds of so many columns, and labels."""
    found = [] if bounds is None else [bounds_sum(bounds)]
    return [*found, classes_sum()] if classes else found
