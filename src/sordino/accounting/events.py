"""The event types. Each says what was run; what it costs stands in the table of ``curves.py``.

Sensitivities and scales in one event are in the same measure (for gridded noise: in grid steps). "Coordinates" is how
many coordinates of the answer one unit can move. All fields are exact; build events from ints, fractions, decimals or
decimal-looking floats and they are read as written.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sordino.arguments import rational
from sordino.errors import ArgumentError

from .event import Event, event_type
from .event_fields import Count, NotNegative, Part, Parts, Positive, Probability, Rate, Several, Text, several
from .learning_events import Allocated as Allocated
from .learning_events import Correlated as Correlated
from .learning_events import Declared as Declared
from .learning_events import GaussianMixture as GaussianMixture
from .learning_events import PoissonSearched as PoissonSearched
from .learning_events import Searched as Searched
from .learning_events import Skellam as Skellam
from .learning_events import SummedDiscreteGaussian as SummedDiscreteGaussian
from .learning_events import TruncatedPoissonSampled as TruncatedPoissonSampled
from .shuffle_events import ShuffledLocal as ShuffledLocal
from .shuffle_events import ShuffledResponse as ShuffledResponse
from .shuffle_events import ShuffledUnary as ShuffledUnary

# ---- noise added to an answer --------------------------------------------------------------------------------------


@event_type("laplace")
@dataclass(frozen=True)
class Laplace(Event):
    """Continuous Laplace noise of `scale` on an answer that moves by at most `sensitivity` in the 1-norm."""

    scale: Positive
    sensitivity: Positive = Fraction(1)


@event_type("discrete-laplace")
@dataclass(frozen=True)
class DiscreteLaplace(Event):
    """Integer noise with P[k] ∝ exp(−|k|/scale) on an integer answer with 1-norm sensitivity `sensitivity`."""

    scale: Positive
    sensitivity: Count = 1
    coordinates: Count = 1


@event_type("gaussian")
@dataclass(frozen=True)
class Gaussian(Event):
    """Gaussian noise of `variance` on an answer whose 2-norm sensitivity, squared, is `sensitivity_squared`.

    Also what is run when the noise is rounded to the integers and the answer is an integer: rounding after adding is
    post-processing, and rounding commutes with whole steps.
    """

    variance: Positive
    sensitivity_squared: Positive = Fraction(1)


@event_type("discrete-gaussian")
@dataclass(frozen=True)
class DiscreteGaussian(Event):
    """Integer noise with P[k] ∝ exp(−k²/(2·variance)) on an integer answer (Canonne, Kamath, Steinke 2020)."""

    variance: Positive
    sensitivity_squared: Positive = Fraction(1)
    coordinates: Count = 1


# ---- selection ------------------------------------------------------------------------------------------------------


@event_type("exponential")
@dataclass(frozen=True)
class Exponential(Event):
    """One choice by the exponential mechanism (or the largest of Gumbel-noised scores): ε-bounded range."""

    epsilon: Positive


@event_type("permute-and-flip")
@dataclass(frozen=True)
class PermuteAndFlip(Event):
    """One choice by permute-and-flip (the largest of exponential-noised scores): pure ε, not bounded range."""

    epsilon: Positive


@event_type("laplace-noisy-max")
@dataclass(frozen=True)
class LaplaceNoisyMax(Event):
    """The index of the largest of Laplace-noised scores: pure ε, not bounded range."""

    epsilon: Positive


@event_type("sparse-vector")
@dataclass(frozen=True)
class SparseVector(Event):
    """AboveThreshold for up to `positives` positive answers; `epsilon_values` pays for numeric answers (0 if none)."""

    epsilon_threshold: Positive
    epsilon_queries: Positive
    positives: Count = 1
    epsilon_values: NotNegative = Fraction(0)


@event_type("partition-selection")
@dataclass(frozen=True)
class PartitionSelection(Event):
    """Keys kept by the optimal (truncated geometric) rule; (ε, δ) for all keys of one unit together."""

    epsilon: Positive
    delta: Probability


# ---- one person's own answer ----------------------------------------------------------------------------------------


@event_type("randomized-response")
@dataclass(frozen=True)
class RandomizedResponse(Event):
    """The truth with probability e^ε/(e^ε+k−1), else one of the k−1 other values, all alike."""

    epsilon: Positive
    categories: Several = 2


# ---- noise scaled to the data at hand -------------------------------------------------------------------------------


@event_type("smooth-laplace")
@dataclass(frozen=True)
class SmoothLaplace(Event):
    """Laplace noise scaled by smooth sensitivity (Nissim, Raskhodnikova, Smith 2007): (ε, δ), δ its own."""

    epsilon: Positive
    delta: Probability


@event_type("smooth-cauchy")
@dataclass(frozen=True)
class SmoothCauchy(Event):
    """Cauchy-like noise scaled by smooth sensitivity (Nissim, Raskhodnikova, Smith 2007): pure ε."""

    epsilon: Positive


@event_type("ladder")
@dataclass(frozen=True)
class Ladder(Event):
    """A value chosen on a ladder of local sensitivities (Zhang et al. 2015): pure ε."""

    epsilon: Positive


# ---- claims without a mechanism -------------------------------------------------------------------------------------


@event_type("pure")
@dataclass(frozen=True)
class Pure(Event):
    """Anything that is ε-differentially private."""

    epsilon: Positive


@event_type("approximate")
@dataclass(frozen=True)
class Approximate(Event):
    """Anything that is (ε, δ)-differentially private; ε may be 0 (a failure of probability δ and nothing else)."""

    epsilon: NotNegative
    delta: Probability


@event_type("concentrated")
@dataclass(frozen=True)
class Concentrated(Event):
    """Anything that is ρ-zero-concentrated differentially private (Bun, Steinke 2016)."""

    rho: Positive


@event_type("personalised")
@dataclass(frozen=True)
class Personalised(Event):
    """A release in which people of public classes have the pure ε's given; the budget is charged the highest."""

    epsilons: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not several("epsilons", self.epsilons):
            raise ArgumentError("epsilons must name the ε of at least one class", "SRD-A003")
        exact = tuple(sorted({rational("epsilons", epsilon, above=0) for epsilon in self.epsilons}))
        object.__setattr__(self, "epsilons", exact)


@event_type("sensitive")
@dataclass(frozen=True)
class Sensitive(Event):
    """A release under sensitive privacy (Asif et al. 2019), which is NOT differential privacy: no calculus prices it.

    It protects only records that are not anomalies, by a policy that is public; an account of its own kind holds it.
    """

    epsilon: Positive
    policy: Text


# ---- made of other events -------------------------------------------------------------------------------------------


@event_type("poisson-sampled")
@dataclass(frozen=True)
class PoissonSampled(Event):
    """`event` run on a sample into which each unit comes independently with probability `rate` (add/remove)."""

    event: Part
    rate: Rate


@event_type("fixed-size-sampled")
@dataclass(frozen=True)
class FixedSizeSampled(Event):
    """`event` run on `size` units drawn without replacement out of `population` (replace-one)."""

    event: Part
    size: Count
    population: Count

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size > self.population:
            raise ArgumentError(f"size ({self.size}) must not exceed population ({self.population})", "SRD-A002")


@event_type("shuffled")
@dataclass(frozen=True)
class Shuffled(Event):
    """`reports` people's local reports, each ε₀-private by itself, seen only in random order (replace-one)."""

    epsilon: Positive
    reports: Several
    delta: Probability


@event_type("replaced")
@dataclass(frozen=True)
class Replaced(Event):
    """`event`, which is priced for a unit that comes or goes, as it counts for a unit that is replaced."""

    event: Part


@event_type("repeated")
@dataclass(frozen=True)
class Repeated(Event):
    """`event` run `count` times, each time with fresh noise, perhaps adaptively."""

    event: Part
    count: Count


@event_type("composed")
@dataclass(frozen=True)
class Composed(Event):
    """All of `events` run on the same data, perhaps adaptively."""

    events: Parts
