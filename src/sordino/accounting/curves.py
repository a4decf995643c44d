"""The table of curves, filled: every simple event type once, with its price in each calculus that knows it.

Importing this module fills `CURVES`; the package does so. `Repeated`, `Composed` and `TruncatedPoissonSampled`
have no row: `flatten` takes them apart before anything is looked up.

| event | pure ε | zCDP ρ | Rényi | μ² |
|---|---|---|---|---|
| Laplace | Δ/s | Kullback–Leibler, proven in ``zcdp.py`` | Mironov 2017, Table II | – |
| DiscreteLaplace | Δ/s | the same | closed form, ``closed_forms.py`` | – |
| Gaussian | – | Δ²/(2σ²) | α·ρ | Δ²/σ² |
| DiscreteGaussian | – | Δ²/(2σ²), Canonne, Kamath, Steinke 2020, Theorem 4 | α·ρ | – (δ differs) |
| SummedDiscreteGaussian, Skellam | – | ``summed_gaussian.py``, ``skellam.py`` | the same | – |
| Correlated | – | of the one Gaussian that it is, ``correlated.py`` | the same | the same |
| GaussianMixture | – | of its largest sensitivity | ``mixture.py`` | – |
| Exponential | ε | ε²/8, Cesar, Rogers 2021 | bounded range | – |
| RandomizedResponse | ε | Kullback–Leibler where proven | exact | – |
| Concentrated | – | ρ | α·ρ | – |
| everything else that is ε-DP outside of its own δ | ε | ε·tanh(ε/2) | binary randomized response | – |
| PoissonSampled, FixedSizeSampled | ln(1+q(e^ε−1)) | never more than unsampled | ``sampled_renyi.py`` | – |
| Shuffled | ``shuffle.py`` | as any ε-DP event | as any ε-DP event | – |
| Replaced | of a sampled event: ``sampled_replaced.py``; of all else: ``replaced.py`` | | | |
| Declared | its own ε, proven | as any ε-DP event | as any ε-DP event | – |
| Searched, PoissonSearched | ``searched.py`` | of its pure ε | ``searched.py`` | – |
| Sensitive | refused: it is not differential privacy | | | |
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from sordino.arguments import rounded_down, rounded_up
from sordino.errors import UnsupportedError

from . import (
    closed_forms,
    correlated,
    declared,
    mixture,
    pure,
    sampled_curves,
    sampled_replaced,
    searched,
    shuffle,
    skellam,
    summed_gaussian,
    zcdp,
)
from .curve import CURVES, Curves, Floats
from .event import Event
from .events import (
    Approximate,
    Concentrated,
    Correlated,
    Declared,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    FixedSizeSampled,
    Gaussian,
    GaussianMixture,
    Ladder,
    Laplace,
    LaplaceNoisyMax,
    PartitionSelection,
    PermuteAndFlip,
    Personalised,
    PoissonSampled,
    PoissonSearched,
    Pure,
    RandomizedResponse,
    Replaced,
    Searched,
    Sensitive,
    Shuffled,
    Skellam,
    SmoothCauchy,
    SmoothLaplace,
    SparseVector,
    SummedDiscreteGaussian,
)
from .loss import LOSSES
from .rounding import lifted


def _epsilon(event: Any) -> Fraction:
    epsilon: Fraction = event.epsilon
    return epsilon


def _delta(event: Any) -> Fraction:
    delta: Fraction = event.delta
    return delta


def _ratio(event: Laplace | DiscreteLaplace) -> Fraction:
    return event.sensitivity / event.scale


def _concentrated(rho: Any) -> Any:
    """Return the Rényi curve α·ρ of an event whose ρ the given function names."""

    def renyi(event: Event, orders: Floats) -> Floats:
        return lifted(orders * rounded_up(rho(event)))

    return renyi


def _claim(epsilon: Any, own_delta: Any = None) -> Curves:
    """Return the curves of an event of which nothing is known but that it is ε-DP outside of its own failure."""

    def renyi(event: Event, orders: Floats) -> Floats:
        cost = rounded_up(epsilon(event))
        return closed_forms.randomized_response(cost, orders) if cost else np.zeros_like(orders)

    entry = Curves(pure=epsilon, zcdp=lambda event: pure.rho(epsilon(event)), renyi=renyi)
    return entry if own_delta is None else replace(entry, own_delta=own_delta)


def _gaussian_rho(event: Gaussian | DiscreteGaussian) -> Fraction:
    return event.sensitivity_squared / (2 * event.variance)


def _declared_rho(event: Concentrated) -> Fraction:
    return event.rho


def _sparse_vector(event: SparseVector) -> Fraction:
    """Lyu, Su, Li 2017, Theorem 4: threshold, all positives' queries and their numeric answers add up."""
    return event.epsilon_threshold + event.epsilon_queries + event.epsilon_values


@lru_cache(maxsize=1024)
def _shuffled(event: Shuffled) -> Fraction:
    return Fraction(shuffle.epsilon(event.epsilon, event.reports, event.delta))


def _not_private(event: Sensitive, *_: object) -> NoReturn:
    raise UnsupportedError(
        "sensitive privacy is not differential privacy: it does not protect the records that its policy calls "
        f"anomalies, so no calculus prices it; hold it in an account of its own kind for the policy {event.policy!r}",
        "SRD-C003",
    )


_ROWS: dict[type[Event], Curves] = {
    Laplace: Curves(
        pure=_ratio,
        zcdp=lambda event: zcdp.laplace_rho(_ratio(event)),
        renyi=lambda event, orders: closed_forms.laplace(rounded_up(_ratio(event)), orders),
    ),
    DiscreteLaplace: Curves(
        pure=_ratio,
        zcdp=lambda event: zcdp.discrete_laplace_rho(event.scale, _ratio(event)),
        renyi=lambda event, orders: closed_forms.discrete_laplace(
            rounded_down(event.scale), rounded_up(_ratio(event)), orders
        ),
    ),
    Gaussian: Curves(
        zcdp=_gaussian_rho,
        renyi=_concentrated(_gaussian_rho),
        gaussian=lambda event: event.sensitivity_squared / event.variance,
    ),
    DiscreteGaussian: Curves(zcdp=_gaussian_rho, renyi=_concentrated(_gaussian_rho)),
    SummedDiscreteGaussian: Curves(zcdp=summed_gaussian.summed_rho, renyi=summed_gaussian.summed_renyi),
    Skellam: Curves(zcdp=skellam.skellam_rho, renyi=skellam.skellam_renyi),
    Correlated: Curves(**{name: correlated.as_one_gaussian(name) for name in ("zcdp", "renyi", "gaussian", "loss")}),
    GaussianMixture: Curves(zcdp=mixture.mixture_rho, renyi=mixture.mixture_renyi),
    Exponential: Curves(
        pure=_epsilon,
        zcdp=lambda event: zcdp.bounded_range_rho(event.epsilon),
        renyi=lambda event, orders: closed_forms.bounded_range(rounded_up(event.epsilon), orders),
    ),
    PermuteAndFlip: _claim(_epsilon),
    LaplaceNoisyMax: _claim(_epsilon),
    SparseVector: _claim(_sparse_vector),
    PartitionSelection: _claim(_epsilon, _delta),
    RandomizedResponse: Curves(
        pure=_epsilon,
        zcdp=lambda event: zcdp.randomized_response_rho(event.epsilon, event.categories),
        renyi=lambda event, orders: closed_forms.randomized_response(
            rounded_up(event.epsilon), orders, event.categories
        ),
    ),
    SmoothLaplace: _claim(_epsilon, _delta),
    SmoothCauchy: _claim(_epsilon),
    Ladder: _claim(_epsilon),
    Pure: _claim(_epsilon),
    Approximate: _claim(_epsilon, _delta),
    Concentrated: Curves(zcdp=_declared_rho, renyi=_concentrated(_declared_rho)),
    Personalised: _claim(lambda event: max(event.epsilons)),
    Sensitive: Curves(_not_private, _not_private, _not_private, _not_private, _not_private, _not_private),
    PoissonSampled: Curves(
        pure=sampled_curves.sampled_pure,
        zcdp=sampled_curves.poisson_zcdp,
        renyi=sampled_curves.poisson_renyi,
        own_delta=sampled_curves.sampled_own_delta,
    ),
    FixedSizeSampled: Curves(
        pure=sampled_curves.sampled_pure,
        zcdp=sampled_curves.fixed_size_zcdp,
        renyi=sampled_curves.fixed_size_renyi,
        own_delta=sampled_curves.sampled_own_delta,
    ),
    Shuffled: _claim(_shuffled, _delta),
    Declared: _claim(declared.claimed, _delta),
    Searched: Curves(
        pure=searched.searched_pure,
        zcdp=lambda event: pure.rho(searched.searched_pure(event)),
        renyi=searched.searched_renyi,
        own_delta=searched.searched_own_delta,
    ),
    PoissonSearched: Curves(
        pure=searched.poisson_searched_pure,
        zcdp=lambda event: pure.rho(searched.poisson_searched_pure(event)),
        renyi=searched.poisson_searched_renyi,
        own_delta=searched.poisson_searched_own_delta,
    ),
    Replaced: Curves(
        pure=sampled_replaced.replaced_pure,
        zcdp=sampled_replaced.replaced_zcdp,
        renyi=sampled_replaced.replaced_renyi,
        own_delta=sampled_replaced.replaced_own_delta,
    ),
}

for _type, _row in _ROWS.items():
    CURVES[_type] = replace(_row, loss=_row.loss or LOSSES.get(_type))
