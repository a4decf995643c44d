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
| Allocated | – | of the step that a unit is in | ``allocated.py`` | – |
| GaussianMixture | – | of its largest sensitivity | ``mixture.py`` | – |
| Exponential | ε | ε²/8, Cesar, Rogers 2021 | bounded range | – |
| RandomizedResponse | ε | Kullback–Leibler where proven | exact | – |
| Concentrated | – | ρ | α·ρ | – |
| everything else that is ε-DP outside of its own δ | ε | ε·tanh(ε/2) | binary randomized response | – |
| PoissonSampled, FixedSizeSampled | ln(1+q(e^ε−1)) | never more than unsampled | ``sampled_renyi.py`` | – |
| Shuffled | ``shuffle.py`` | as any ε-DP event | as any ε-DP event | – |
| ShuffledLocal, ShuffledResponse, ShuffledUnary | ``shuffled_reports.py`` | as any ε-DP event | as any ε-DP event | – |
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
    allocated,
    closed_forms,
    correlated,
    declared,
    events,
    mixture,
    pure,
    sampled_curves,
    sampled_replaced,
    searched,
    shuffle,
    shuffled_reports,
    skellam,
    summed_gaussian,
    zcdp,
)
from .curve import CURVES, Curves, Floats
from .event import Event
from .loss import LOSSES
from .rounding import lifted


def _epsilon(event: Any) -> Fraction:
    epsilon: Fraction = event.epsilon
    return epsilon


def _delta(event: Any) -> Fraction:
    delta: Fraction = event.delta
    return delta


def _ratio(event: events.Laplace | events.DiscreteLaplace) -> Fraction:
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


def _gaussian_rho(event: events.Gaussian | events.DiscreteGaussian) -> Fraction:
    return event.sensitivity_squared / (2 * event.variance)


def _declared_rho(event: events.Concentrated) -> Fraction:
    return event.rho


def _sparse_vector(event: events.SparseVector) -> Fraction:
    """Lyu, Su, Li 2017, Theorem 4: threshold, all positives' queries and their numeric answers add up."""
    return event.epsilon_threshold + event.epsilon_queries + event.epsilon_values


@lru_cache(maxsize=1024)
def _shuffled(event: events.Shuffled) -> Fraction:
    return Fraction(shuffle.epsilon(event.epsilon, event.reports, event.delta))


def _not_private(event: events.Sensitive, *_: object) -> NoReturn:
    raise UnsupportedError(
        "sensitive privacy is not differential privacy: it does not protect the records that its policy calls "
        f"anomalies, so no calculus prices it; hold it in an account of its own kind for the policy {event.policy!r}",
        "SRD-C003",
    )


_ROWS: dict[type[Event], Curves] = {
    events.Laplace: Curves(
        pure=_ratio,
        zcdp=lambda event: zcdp.laplace_rho(_ratio(event)),
        renyi=lambda event, orders: closed_forms.laplace(rounded_up(_ratio(event)), orders),
    ),
    events.DiscreteLaplace: Curves(
        pure=_ratio,
        zcdp=lambda event: zcdp.discrete_laplace_rho(event.scale, _ratio(event)),
        renyi=lambda event, orders: closed_forms.discrete_laplace(
            rounded_down(event.scale), rounded_up(_ratio(event)), orders
        ),
    ),
    events.Gaussian: Curves(
        zcdp=_gaussian_rho,
        renyi=_concentrated(_gaussian_rho),
        gaussian=lambda event: event.sensitivity_squared / event.variance,
    ),
    events.DiscreteGaussian: Curves(zcdp=_gaussian_rho, renyi=_concentrated(_gaussian_rho)),
    events.SummedDiscreteGaussian: Curves(zcdp=summed_gaussian.summed_rho, renyi=summed_gaussian.summed_renyi),
    events.Skellam: Curves(zcdp=skellam.skellam_rho, renyi=skellam.skellam_renyi),
    events.Correlated: Curves(
        **{name: correlated.as_one_gaussian(name) for name in ("zcdp", "renyi", "gaussian", "loss")}
    ),
    events.Allocated: Curves(zcdp=allocated.allocated_rho, renyi=allocated.allocated_renyi),
    events.GaussianMixture: Curves(zcdp=mixture.mixture_rho, renyi=mixture.mixture_renyi),
    events.Exponential: Curves(
        pure=_epsilon,
        zcdp=lambda event: zcdp.bounded_range_rho(event.epsilon),
        renyi=lambda event, orders: closed_forms.bounded_range(rounded_up(event.epsilon), orders),
    ),
    events.PermuteAndFlip: _claim(_epsilon),
    events.LaplaceNoisyMax: _claim(_epsilon),
    events.SparseVector: _claim(_sparse_vector),
    events.PartitionSelection: _claim(_epsilon, _delta),
    events.RandomizedResponse: Curves(
        pure=_epsilon,
        zcdp=lambda event: zcdp.randomized_response_rho(event.epsilon, event.categories),
        renyi=lambda event, orders: closed_forms.randomized_response(
            rounded_up(event.epsilon), orders, event.categories
        ),
    ),
    events.SmoothLaplace: _claim(_epsilon, _delta),
    events.SmoothCauchy: _claim(_epsilon),
    events.Ladder: _claim(_epsilon),
    events.Pure: _claim(_epsilon),
    events.Approximate: _claim(_epsilon, _delta),
    events.Concentrated: Curves(zcdp=_declared_rho, renyi=_concentrated(_declared_rho)),
    events.Personalised: _claim(lambda event: max(event.epsilons)),
    events.Sensitive: Curves(_not_private, _not_private, _not_private, _not_private, _not_private, _not_private),
    events.PoissonSampled: Curves(
        pure=sampled_curves.sampled_pure,
        zcdp=sampled_curves.poisson_zcdp,
        renyi=sampled_curves.poisson_renyi,
        own_delta=sampled_curves.sampled_own_delta,
    ),
    events.FixedSizeSampled: Curves(
        pure=sampled_curves.sampled_pure,
        zcdp=sampled_curves.fixed_size_zcdp,
        renyi=sampled_curves.fixed_size_renyi,
        own_delta=sampled_curves.sampled_own_delta,
    ),
    events.Shuffled: _claim(_shuffled, _delta),
    events.ShuffledLocal: _claim(shuffled_reports.local_reports, _delta),
    events.ShuffledResponse: _claim(shuffled_reports.responses, _delta),
    events.ShuffledUnary: _claim(shuffled_reports.unary_reports, _delta),
    events.Declared: _claim(declared.claimed, _delta),
    events.Searched: Curves(
        pure=searched.searched_pure,
        zcdp=lambda event: pure.rho(searched.searched_pure(event)),
        renyi=searched.searched_renyi,
        own_delta=searched.searched_own_delta,
    ),
    events.PoissonSearched: Curves(
        pure=searched.poisson_searched_pure,
        zcdp=lambda event: pure.rho(searched.poisson_searched_pure(event)),
        renyi=searched.poisson_searched_renyi,
        own_delta=searched.poisson_searched_own_delta,
    ),
    events.Replaced: Curves(
        pure=sampled_replaced.replaced_pure,
        zcdp=sampled_replaced.replaced_zcdp,
        renyi=sampled_replaced.replaced_renyi,
        own_delta=sampled_replaced.replaced_own_delta,
    ),
}

for _type, _row in _ROWS.items():
    CURVES[_type] = replace(_row, loss=_row.loss or LOSSES.get(_type))
