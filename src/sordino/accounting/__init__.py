"""What privacy costs. Pure mathematics: no data, no randomness, no input or output.

A map of the room, in the order in which a price comes about:

*what is protected*   ``neighbours`` · ``bound`` (unit, relation, sensitivity)
*what was run*        ``event`` (canonical JSON) · ``events`` (all types) · ``relation`` (what may be added up)
*what it costs*       ``curve`` (the table and `flatten`) · ``curves`` (its rows) · ``closed_forms`` · ``shuffle`` ·
                      ``sampled_curves`` · ``sampled_renyi`` · ``loss`` (dominating pairs) · ``rounding``
*calculi*             ``pure`` · ``approximate`` · ``composition`` and ``optimal`` · ``zcdp`` · ``renyi`` ·
                      ``gaussian`` · ``pld`` · ``group`` (k units at once)
*side by side*        ``accountants`` (every calculus at once) · ``calibration`` (from a target to the noise)
*budgets*             ``budget`` · ``filter`` · ``account`` · ``grant`` · ``plan`` · ``explain``

    >>> from sordino.accounting import renyi
    >>> from sordino.accounting.events import Gaussian, PoissonSampled, Repeated
    >>> steps = Repeated(PoissonSampled(Gaussian(variance=16), rate="0.01"), 10_000)
    >>> round(renyi.epsilon(steps, delta="1e-5"), 4)
    1.0354

Every calculus has the same verbs: ``epsilon(event, delta)`` and ``delta(event, epsilon)``, rounded towards more cost.
Importing the package fills the table of curves; submodules are imported by name.
"""

from __future__ import annotations

from . import curves as _curves  # noqa: F401  fills the table of curves
from .bound import ROW, Bound, Unit
from .event import Event
from .neighbours import Neighbours

__all__ = ["ROW", "Bound", "Event", "Neighbours", "Unit"]
