"""The event types of training, of the search for its settings and of noise that several parties add.

Here for the length of a file alone: `sordino.accounting.events` has them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from sordino.arguments import probability, rational, whole
from sordino.errors import ArgumentError

from .event import Event, event_type
from .event_fields import Count, NotNegative, Part, Positive, Probability, Rate, several


@event_type("declared")
@dataclass(frozen=True)
class Declared(Event):
    """`event`, fixed as a whole before it begins, and charged as (ε, δ) with that δ its own; see ``declared.py``.

    It carries the `epsilon` that is claimed, so that what it costs is read, not computed: who prices it proves that
    the claim holds, or refuses it.
    """

    event: Part
    delta: Probability
    epsilon: NotNegative


@event_type("searched")
@dataclass(frozen=True)
class Searched(Event):
    """The best of a random number of runs of `event`, each with its private score; only the winner is shown.

    How many runs has the truncated negative binomial law with η = `shape` and γ = `stopping`: with η = 1 each run is
    the last with probability γ, with η = 0 it is the logarithmic law. See ``searched.py``.
    """

    event: Part
    stopping: Fraction
    shape: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "stopping", rational("stopping", self.stopping, least="1e-12", most="0.999999999999"))
        object.__setattr__(self, "shape", rational("shape", self.shape, above=-1, most=1000))
        if 0 < abs(self.shape) < Fraction(1, 10**6):
            raise ArgumentError("shape must be 0, or at least 0.000001 away from it", "SRD-A002")


@event_type("poisson-searched")
@dataclass(frozen=True)
class PoissonSearched(Event):
    """The best of a Poisson number of runs of `event`, `mean` on average; perhaps none, which shows nothing."""

    event: Part
    mean: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "mean", rational("mean", self.mean, above=0, most=10**9))


@event_type("summed-discrete-gaussian")
@dataclass(frozen=True)
class SummedDiscreteGaussian(Event):
    """The sum of `parties` independent discrete Gaussians, each of `variance`, on an integer answer.

    It is not a discrete Gaussian; see ``summed_gaussian.py``.
    """

    parties: Count
    variance: Positive
    sensitivity_squared: Positive = Fraction(1)
    coordinates: Count = 1


@event_type("skellam")
@dataclass(frozen=True)
class Skellam(Event):
    """The difference of two Poisson variables, of `variance` in all, on an integer answer: a sum of such is such.

    `sensitivity` bounds the answer in the 1-norm, `sensitivity_squared` in the 2-norm, squared.
    """

    variance: Positive
    sensitivity: Count = 1
    sensitivity_squared: Positive = Fraction(1)


@event_type("correlated")
@dataclass(frozen=True)
class Correlated(Event):
    """Gaussian noise of `variance` on Cx, for all of a run of `steps` steps, where x holds what is added in each step.

    C is lower triangular, with `coefficients` along each column from the diagonal down: whole numbers that do not
    increase. One unit adds something in at most `participations` steps, any two of them at least `separation` apart,
    of a squared 2-norm of `sensitivity_squared` each. See ``correlated.py``.
    """

    coefficients: tuple[int, ...]
    steps: Count
    separation: Count
    participations: Count
    variance: Positive
    sensitivity_squared: Positive = Fraction(1)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("steps", self.steps, most=10**6)
        given = several("coefficients", self.coefficients)
        column = tuple(whole("coefficients", each, least=0) for each in given)
        if not column or not column[0] or len(column) > min(self.steps, 10_000):
            raise ArgumentError(
                "coefficients must begin with a positive number, and be at most as many as steps and 10,000", "SRD-A003"
            )
        if any(later > earlier for earlier, later in pairwise(column)):
            raise ArgumentError("coefficients must not increase: then the worst participation is known", "SRD-A003")
        object.__setattr__(self, "coefficients", column)


@event_type("truncated-poisson-sampled")
@dataclass(frozen=True)
class TruncatedPoissonSampled(Event):
    """`event` on a Poisson sample of `rate`, of which no more than `most` units are kept, chosen by chance.

    There are at most `population` units in all. See ``truncated.py``.
    """

    event: Part
    rate: Rate
    most: Count
    population: Count


@event_type("gaussian-mixture")
@dataclass(frozen=True)
class GaussianMixture(Event):
    """Gaussian noise of `variance` on an answer that a unit moves by chance: by `sensitivities` with `probabilities`.

    So a user moves a sum over a sample of examples, some of which are theirs. See ``mixture.py``.
    """

    variance: Positive
    sensitivities: tuple[Fraction, ...]
    probabilities: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = tuple(rational("sensitivities", each, least=0) for each in several("sensitivities", self.sensitivities))
        chances = tuple(probability("probabilities", each) for each in several("probabilities", self.probabilities))
        if len(sizes) != len(chances) or not 2 <= len(sizes) <= 1000 or sum(chances) != 1:
            raise ArgumentError(
                "a mixture needs 2 to 1000 sensitivities and as many probabilities, which add up to 1", "SRD-A003"
            )
        if any(later <= earlier for earlier, later in pairwise(sizes)):
            raise ArgumentError("sensitivities must increase, each with its probability", "SRD-A003")
        object.__setattr__(self, "sensitivities", sizes)
        object.__setattr__(self, "probabilities", chances)


@event_type("allocated")
@dataclass(frozen=True)
class Allocated(Event):
    """Gaussian noise of `variance` in each of `steps` steps, of which a unit is in exactly one, chosen by chance.

    Every unit draws its step by itself, evenly, whatever the others do; `sensitivity_squared` is what it moves there.
    See ``allocated.py``.
    """

    steps: Count
    variance: Positive
    sensitivity_squared: Positive = Fraction(1)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("steps", self.steps, most=10**9)
