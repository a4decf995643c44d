"""The event types. Each says what was run; what it costs stands in the table of ``curves.py``.

Sensitivities and scales in one event are in the same measure (for gridded noise: in grid steps). "Coordinates" is how
many coordinates of the answer one unit can move. All fields are exact; build events from ints, fractions, decimals or
decimal-looking floats and they are read as written.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sordino.arguments import probability, rational
from sordino.errors import ArgumentError

from .event import Event, event_type
from .event_fields import counting, made_of, positive, several, text
from .learning_events import Correlated as Correlated
from .learning_events import Declared as Declared
from .learning_events import GaussianMixture as GaussianMixture
from .learning_events import PoissonSearched as PoissonSearched
from .learning_events import Searched as Searched
from .learning_events import Skellam as Skellam
from .learning_events import SummedDiscreteGaussian as SummedDiscreteGaussian
from .learning_events import TruncatedPoissonSampled as TruncatedPoissonSampled

# ---- noise added to an answer --------------------------------------------------------------------------------------


@event_type("laplace")
@dataclass(frozen=True)
class Laplace(Event):
    """Continuous Laplace noise of `scale` on an answer that moves by at most `sensitivity` in the 1-norm."""

    scale: Fraction
    sensitivity: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        positive(self, "scale", "sensitivity")


@event_type("discrete-laplace")
@dataclass(frozen=True)
class DiscreteLaplace(Event):
    """Integer noise with P[k] ∝ exp(−|k|/scale) on an integer answer with 1-norm sensitivity `sensitivity`."""

    scale: Fraction
    sensitivity: int = 1
    coordinates: int = 1

    def __post_init__(self) -> None:
        positive(self, "scale")
        counting(self, "sensitivity", "coordinates")


@event_type("gaussian")
@dataclass(frozen=True)
class Gaussian(Event):
    """Gaussian noise of `variance` on an answer whose 2-norm sensitivity, squared, is `sensitivity_squared`.

    Also what is run when the noise is rounded to the integers and the answer is an integer: rounding after adding is
    post-processing, and rounding commutes with whole steps.
    """

    variance: Fraction
    sensitivity_squared: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        positive(self, "variance", "sensitivity_squared")


@event_type("discrete-gaussian")
@dataclass(frozen=True)
class DiscreteGaussian(Event):
    """Integer noise with P[k] ∝ exp(−k²/(2·variance)) on an integer answer (Canonne, Kamath, Steinke 2020)."""

    variance: Fraction
    sensitivity_squared: Fraction = Fraction(1)
    coordinates: int = 1

    def __post_init__(self) -> None:
        positive(self, "variance", "sensitivity_squared")
        counting(self, "coordinates")


# ---- selection ------------------------------------------------------------------------------------------------------


@event_type("exponential")
@dataclass(frozen=True)
class Exponential(Event):
    """One choice by the exponential mechanism (or the largest of Gumbel-noised scores): ε-bounded range."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        positive(self, "epsilon")


@event_type("permute-and-flip")
@dataclass(frozen=True)
class PermuteAndFlip(Event):
    """One choice by permute-and-flip (the largest of exponential-noised scores): pure ε, not bounded range."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        positive(self, "epsilon")


@event_type("laplace-noisy-max")
@dataclass(frozen=True)
class LaplaceNoisyMax(Event):
    """The index of the largest of Laplace-noised scores: pure ε, not bounded range."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        positive(self, "epsilon")


@event_type("sparse-vector")
@dataclass(frozen=True)
class SparseVector(Event):
    """AboveThreshold for up to `positives` positive answers; `epsilon_values` pays for numeric answers (0 if none)."""

    epsilon_threshold: Fraction
    epsilon_queries: Fraction
    positives: int = 1
    epsilon_values: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        positive(self, "epsilon_threshold", "epsilon_queries")
        counting(self, "positives")
        object.__setattr__(self, "epsilon_values", rational("epsilon_values", self.epsilon_values, least=0))


@event_type("partition-selection")
@dataclass(frozen=True)
class PartitionSelection(Event):
    """Keys kept by the optimal (truncated geometric) rule; (ε, δ) for all keys of one unit together."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        positive(self, "epsilon")
        object.__setattr__(self, "delta", probability("delta", self.delta))


# ---- one person's own answer ----------------------------------------------------------------------------------------


@event_type("randomized-response")
@dataclass(frozen=True)
class RandomizedResponse(Event):
    """The truth with probability e^ε/(e^ε+k−1), else one of the k−1 other values, all alike."""

    epsilon: Fraction
    categories: int = 2

    def __post_init__(self) -> None:
        positive(self, "epsilon")
        counting(self, "categories", least=2)


# ---- noise scaled to the data at hand -------------------------------------------------------------------------------


@event_type("smooth-laplace")
@dataclass(frozen=True)
class SmoothLaplace(Event):
    """Laplace noise scaled by smooth sensitivity (Nissim, Raskhodnikova, Smith 2007): (ε, δ), δ its own."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        positive(self, "epsilon")
        object.__setattr__(self, "delta", probability("delta", self.delta))


@event_type("smooth-cauchy")
@dataclass(frozen=True)
class SmoothCauchy(Event):
    """Cauchy-like noise scaled by smooth sensitivity (Nissim, Raskhodnikova, Smith 2007): pure ε."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        positive(self, "epsilon")


@event_type("ladder")
@dataclass(frozen=True)
class Ladder(Event):
    """A value chosen on a ladder of local sensitivities (Zhang et al. 2015): pure ε."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        positive(self, "epsilon")


# ---- claims without a mechanism -------------------------------------------------------------------------------------


@event_type("pure")
@dataclass(frozen=True)
class Pure(Event):
    """Anything that is ε-differentially private."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        positive(self, "epsilon")


@event_type("approximate")
@dataclass(frozen=True)
class Approximate(Event):
    """Anything that is (ε, δ)-differentially private; ε may be 0 (a failure of probability δ and nothing else)."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", rational("epsilon", self.epsilon, least=0))
        object.__setattr__(self, "delta", probability("delta", self.delta))


@event_type("concentrated")
@dataclass(frozen=True)
class Concentrated(Event):
    """Anything that is ρ-zero-concentrated differentially private (Bun, Steinke 2016)."""

    rho: Fraction

    def __post_init__(self) -> None:
        positive(self, "rho")


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

    epsilon: Fraction
    policy: str

    def __post_init__(self) -> None:
        positive(self, "epsilon")
        object.__setattr__(self, "policy", text("policy", self.policy))


# ---- made of other events -------------------------------------------------------------------------------------------


@event_type("poisson-sampled")
@dataclass(frozen=True)
class PoissonSampled(Event):
    """`event` run on a sample into which each unit comes independently with probability `rate` (add/remove)."""

    event: Event
    rate: Fraction

    def __post_init__(self) -> None:
        made_of(self, "event", (self.event,))
        object.__setattr__(self, "rate", rational("rate", self.rate, above=0, most=1))


@event_type("fixed-size-sampled")
@dataclass(frozen=True)
class FixedSizeSampled(Event):
    """`event` run on `size` units drawn without replacement out of `population` (replace-one)."""

    event: Event
    size: int
    population: int

    def __post_init__(self) -> None:
        made_of(self, "event", (self.event,))
        counting(self, "size", "population")
        if self.size > self.population:
            raise ArgumentError(f"size ({self.size}) must not exceed population ({self.population})", "SRD-A002")


@event_type("shuffled")
@dataclass(frozen=True)
class Shuffled(Event):
    """`reports` people's local reports, each ε₀-private by itself, seen only in random order (replace-one)."""

    epsilon: Fraction
    reports: int
    delta: Fraction

    def __post_init__(self) -> None:
        positive(self, "epsilon")
        counting(self, "reports", least=2)
        object.__setattr__(self, "delta", probability("delta", self.delta))


@event_type("replaced")
@dataclass(frozen=True)
class Replaced(Event):
    """`event`, which is priced for a unit that comes or goes, as it counts for a unit that is replaced."""

    event: Event

    def __post_init__(self) -> None:
        made_of(self, "event", (self.event,))


@event_type("repeated")
@dataclass(frozen=True)
class Repeated(Event):
    """`event` run `count` times, each time with fresh noise, perhaps adaptively."""

    event: Event
    count: int

    def __post_init__(self) -> None:
        made_of(self, "event", (self.event,))
        counting(self, "count")


@event_type("composed")
@dataclass(frozen=True)
class Composed(Event):
    """All of `events` run on the same data, perhaps adaptively."""

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", several("events", self.events))
        made_of(self, "events", self.events)
