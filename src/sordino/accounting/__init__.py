"""What privacy costs. Pure mathematics: no data, no randomness, no input or output.

A map of the room, in the order in which a price comes about:

*what is protected*   ``neighbours`` · ``bound`` (unit, relation, sensitivity)
*what was run*        ``event`` (canonical JSON) · ``events`` (all types) · ``relation`` (what may be added up)
*what it costs*       ``curve`` (the table and `flatten`) · ``curves`` (its rows) · ``closed_forms`` · ``shuffle``,
                      ``shuffled_reports`` · ``sampled_curves`` · ``sampled_renyi`` ·
                      ``loss`` (dominating pairs) · ``rounding``
*calculi*             ``pure`` · ``approximate`` · ``composition`` and ``optimal`` · ``zcdp`` · ``renyi`` ·
                      ``gaussian`` · ``pld`` · ``group`` (k units at once)
*side by side*        ``accountants`` (every calculus at once) · ``calibration`` (from a target to the noise)
*budgets*             ``budget`` · ``filter`` · ``account`` · ``grant`` · ``plan`` · ``explain``

    >>> from sordino.accounting import renyi
    >>> from sordino.accounting.events import Gaussian, PoissonSampled, Repeated
    >>> steps = Repeated(PoissonSampled(Gaussian(variance=16), rate="0.01"), 10_000)
    >>> round(renyi.epsilon(steps, delta="1e-5"), 4)
    1.0354

Every calculus has the same verbs: ``epsilon(event, delta)`` and ``delta(event, epsilon)``, floats that are rounded
towards more cost. Exact sums are `pure.total`, `composition.basic`, `zcdp.rho` and `gaussian.mu_squared`.
Importing the package fills the table of curves; the calculi are loaded when they are first named.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import curves as _curves  # noqa: F401  fills the table of curves
from .bound import ROW, Bound, Unit
from .event import Event
from .neighbours import Neighbours

_CALCULI = (
    "accountants", "approximate", "budget", "calibration", "composition", "events", "explain", "gaussian", "group",
    "pld", "pure", "renyi", "shuffle", "tradeoff", "zcdp",
)  # fmt: skip

__all__ = ["ROW", "Bound", "Event", "Neighbours", "Unit", *_CALCULI]


def __getattr__(name: str) -> Any:
    if name in _CALCULI:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
