"""Noise and accounting together: each mechanism adds noise and names its own event.

A mechanism is a frozen dataclass of public parameters with three verbs: ``event(bound)`` says what a release runs,
``release(value, grant)`` runs it once, ``error(confidence)`` says how far off it will be.

Numbers
    ``Laplace``, ``Gaussian``, ``DiscreteGaussian``     noise on a number, a vector or an array, on a public ``Grid``
    ``SmoothLaplace``, ``SmoothCauchy``, ``Ladder``     noise as large as the data at hand needs (``LocalAnswer``)
    ``Quantiles``                                       medians and other quantiles
    ``GroupedQuantile``, ``FlippedQuantile``            a quantile of each group's histogram (``GroupedHistogram``)
    ``GroupedExtreme``                                  the least or the largest value of each group
Choices
    ``Exponential``                                     one of a list, better ones more often
    ``GumbelMax``, ``PermuteAndFlip``, ``LaplaceMax``   the largest of noisy scores
    ``TopK``                                            the best k, in order
    ``GroupedTop``                                      the most frequent categories of each group
    ``AboveThreshold``, ``NumericAboveThreshold``       which of a stream are large; ``start`` gives a ``Watch``
    ``TruncatedGeometric``                              which keys may be shown
    ``GeometricThreshold``, ``LaplaceThreshold``, ``GaussianThreshold``  which keys may be shown, and their counts
People
    ``RandomizedResponse``                              everyone answers for themselves
    ``Classes``, ``PersonalisedSample``, ``PersonalisedCount``, ``PersonalisedMedian``   an ε for each public class
    ``AnomalyPolicy``, ``IsAnomaly``                    sensitive privacy, which is *not* differential privacy
Bounds
    ``ClipValues``, ``ClipNorm``, ``AdaptiveClipping``  what one unit can change, made to hold

``sordino.mechanisms.checks`` judges them all, and anyone else's: ``check_mechanism(Case(…))``.
"""

from __future__ import annotations

from .adaptive_clipping import AdaptiveClipping
from .classes import Classes
from .clipping import ClipNorm, ClipValues
from .exponential import Exponential
from .flipped_quantile import FlippedQuantile
from .gaussian import DiscreteGaussian, Gaussian
from .geometric_threshold import GeometricThreshold
from .grid import INTEGERS, Grid
from .grouped_choice import GroupedHistogram, GroupedQuantile, GroupedTop
from .grouped_extreme import GroupedExtreme
from .ladder import Ladder
from .laplace import Laplace
from .local_sensitivity import LocalAnswer
from .mechanism import Mechanism, use_grant
from .noisy_max import GumbelMax, LaplaceMax, PermuteAndFlip
from .partition import GaussianThreshold, LaplaceThreshold, TruncatedGeometric
from .personalised import PersonalisedSample
from .personalised_choice import PersonalisedCount, PersonalisedMedian
from .quantile import Quantiles
from .randomized_response import Frequencies, RandomizedResponse
from .sensitive import AnomalyPolicy, IsAnomaly
from .smooth import SmoothCauchy, SmoothLaplace
from .sparse_vector import AboveThreshold, NumericAboveThreshold
from .top_k import TopK
from .watch import NumericWatch, Watch

__all__ = [
    "INTEGERS",
    "AboveThreshold",
    "AdaptiveClipping",
    "AnomalyPolicy",
    "Classes",
    "ClipNorm",
    "ClipValues",
    "DiscreteGaussian",
    "Exponential",
    "FlippedQuantile",
    "Frequencies",
    "Gaussian",
    "GaussianThreshold",
    "GeometricThreshold",
    "Grid",
    "GroupedExtreme",
    "GroupedHistogram",
    "GroupedQuantile",
    "GroupedTop",
    "GumbelMax",
    "IsAnomaly",
    "Ladder",
    "Laplace",
    "LaplaceMax",
    "LaplaceThreshold",
    "LocalAnswer",
    "Mechanism",
    "NumericAboveThreshold",
    "NumericWatch",
    "PermuteAndFlip",
    "PersonalisedCount",
    "PersonalisedMedian",
    "PersonalisedSample",
    "Quantiles",
    "RandomizedResponse",
    "SmoothCauchy",
    "SmoothLaplace",
    "TopK",
    "TruncatedGeometric",
    "Watch",
    "use_grant",
]
