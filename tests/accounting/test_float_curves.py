"""Every curve that is computed in floats against fifty digits, at random parameters: never below, and not far above.

Each judge draws parameters over many orders of magnitude and returns what we say and the truth. The quick run takes
some hundred fixed draws of each, the long one a hundred thousand.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
import scipy

from sordino.accounting import closed_forms, composition, gaussian, group, pure, rounding, sampled_renyi, zcdp
from sordino.accounting.events import Composed, Concentrated, Pure, Repeated
from sordino.accounting.pld.analytic import delta_bounds, epsilon_bounds
from sordino.accounting.renyi import to_epsilon, to_log_delta
from sordino.accounting.tradeoff import TradeOff

DIGITS = 50
QUICK, LONG = 150, 100_000

Judged = tuple[object, object, float]
"""What we say, the truth, and by what part we may be above it."""


def _power(rng: random.Random, low: float, high: float) -> float:
    return float(f"{10 ** rng.uniform(low, high):.17g}")


def _delta(rng: random.Random) -> Fraction:
    return Fraction(_power(rng, -60, -0.05))


def _exact(value: Fraction) -> mp.mpf:
    return mp.mpf(value.numerator) / value.denominator


def _gaussian_delta(mu: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    """Balle, Wang 2018, Theorem 8, as it stands, with digits to spare."""
    with mp.workdps(120):
        x, y = mp.mpf(epsilon) / mu - mp.mpf(mu) / 2, mp.mpf(epsilon) / mu + mp.mpf(mu) / 2
        return mp.erfc(x / mp.sqrt(2)) / 2 - mp.exp(mp.mpf(epsilon)) * mp.erfc(y / mp.sqrt(2)) / 2


def _mu_and_epsilon(rng: random.Random) -> tuple[float, float]:
    mu = _power(rng, -12, 3)
    deviations = rng.choice([0.0, rng.uniform(0, 1), rng.uniform(0, 6), rng.uniform(0, 35), _power(rng, -9, 1)])
    return mu, mu * (deviations + rng.choice([0, mu / 2]))


def gaussian_delta(rng: random.Random) -> Judged:
    mu, epsilon = _mu_and_epsilon(rng)
    return gaussian.delta_of(mu, epsilon), _gaussian_delta(mp.mpf(mu), mp.mpf(epsilon)), 1e-9


def gaussian_delta_bracket(rng: random.Random) -> Judged:
    mu, epsilon = _mu_and_epsilon(rng)
    low, high = delta_bounds(mu, Fraction(epsilon))
    truth = _gaussian_delta(mp.mpf(mu), mp.mpf(epsilon))
    assert low <= truth
    return high, truth, 1e-9


def gaussian_epsilon(rng: random.Random) -> Judged:
    """ε is judged by the true δ there, which must not exceed the one asked for."""
    mu, delta = _power(rng, -4, 3), float(_delta(rng))
    claimed = gaussian.epsilon_of(mu, delta)
    return (delta, _gaussian_delta(mp.mpf(mu), mp.mpf(claimed)), 1e-6 if claimed else math.inf)


def gaussian_epsilon_bracket(rng: random.Random) -> Judged:
    mu, delta = _power(rng, -4, 3), _delta(rng)
    low, high = epsilon_bounds(mu, delta)
    assert low == 0 or _gaussian_delta(mp.mpf(mu), mp.mpf(low)) >= _exact(delta)
    return _exact(delta), _gaussian_delta(mp.mpf(mu), mp.mpf(high)), 1e-6 if high else math.inf


def analytic_calibration(rng: random.Random) -> Judged:
    epsilon, delta = Fraction(_power(rng, -6, 3)), _delta(rng)
    sigma = mp.mpf(gaussian.analytic_sigma(epsilon, delta))
    return _exact(delta), _gaussian_delta(1 / sigma, _exact(epsilon)), 1e-6


def _order(rng: random.Random) -> float:
    return rng.choice([1 + _power(rng, -3, 0), float(rng.randint(2, 64)), rng.uniform(2, 64), rng.uniform(64, 4096)])


def _at(function: Callable[..., object], *arguments: object, order: float, **words: object) -> float:
    return float(function(*arguments, np.array([order]), **words)[0])  # type: ignore[index]


def renyi_randomized_response(rng: random.Random) -> Judged:
    epsilon, order, k = _power(rng, -9, 2), _order(rng), rng.choice([2, 3, 10, 1000])
    own = 1 / (1 + (k - 1) * mp.exp(-mp.mpf(epsilon)))
    other, a = own * mp.exp(-mp.mpf(epsilon)), mp.mpf(order)
    moment = own**a * other ** (1 - a) + other**a * own ** (1 - a) + (k - 2) * other
    ours = _at(closed_forms.randomized_response, epsilon, order=order, categories=k)
    return ours, mp.log(moment) / (a - 1), 1e-8


def renyi_laplace(rng: random.Random) -> Judged:
    epsilon, order = _power(rng, -9, 2), _order(rng)
    e, a = mp.mpf(epsilon), mp.mpf(order)
    moment = (a * mp.exp((a - 1) * e) + (a - 1) * mp.exp(-a * e)) / (2 * a - 1)
    # what is added for cancellation is at most the bound that every ε-DP event has, twice the truth
    return _at(closed_forms.laplace, epsilon, order=order), mp.log(moment) / (a - 1), 1.01 if epsilon < 1e-6 else 1e-3


def renyi_discrete_laplace(rng: random.Random) -> Judged:
    scale, steps, order = _power(rng, -1, 6), rng.randint(1, 20), _order(rng)
    s, a = mp.mpf(scale), mp.mpf(order)
    epsilon = rounding_up = float(Fraction(steps) / Fraction(scale)) * (1 + 2e-16)
    ours = _at(closed_forms.discrete_laplace, scale, rounding_up, order=order)
    t = mp.exp(-1 / s)
    middle = mp.fsum(t ** (a * (steps - x) + (1 - a) * x) for x in range(1, steps))
    ends = (t ** (a * steps) + t ** ((1 - a) * steps)) / (1 - t)
    truth = mp.log((1 - t) / (1 + t) * (ends + middle)) / (a - 1)
    return ours, truth, 1.01 if epsilon < 1e-6 else 1e-2


def renyi_bounded_range(rng: random.Random) -> Judged:
    epsilon, order = _power(rng, -9, 2), _order(rng)
    a, c = mp.mpf(order), mp.exp(-mp.mpf(epsilon))
    x = (a - 1) * (1 - c**a) / (a * (c - c**a))
    truth = mp.log(x ** (a - 1) * (1 - c**a) / (a * (1 - c))) / (a - 1)
    return _at(closed_forms.bounded_range, epsilon, order=order), truth, 1.01


def renyi_sampled_gaussian(rng: random.Random) -> Judged:
    mu_squared, rate, order = _power(rng, -6, 1.5), _power(rng, -8, -0.01), rng.randint(2, 24)
    q, m = mp.mpf(rate), mp.mpf(mu_squared)
    terms = (
        mp.binomial(order, k) * (1 - q) ** (order - k) * q**k * mp.expm1(k * (k - 1) * m / 2)
        for k in range(2, order + 1)
    )
    truth = mp.log1p(mp.fsum(terms)) / (order - 1)
    return _at(sampled_renyi.sampled_gaussian, mu_squared, rate, order=float(order)), truth, 1e-8


def renyi_sampled_gaussian_between(rng: random.Random) -> Judged:
    """At orders in between the truth is an integral; the trapezoidal rule with fifty digits finds it."""
    sigma, rate, order = rng.uniform(0.7, 5), _power(rng, -4, -0.3), 1 + rng.uniform(0.1, 12)
    q, s, a = mp.mpf(rate), mp.mpf(sigma), mp.mpf(order)
    with mp.workdps(25):
        step = s * min(s, 1) / 8
        nodes = [step * k for k in range(int(-12 * s / step), int((order + 12 * s) / step))]
        moment = (
            mp.fsum(mp.npdf(z / s) / s * ((1 - q) + q * mp.exp((2 * z - 1) / (2 * s * s))) ** a for z in nodes) * step
        )
        # E[u] = 0 under the same rule takes its error out of the leading term
        truth = mp.log(moment) / (a - 1) * (1 - mp.mpf("1e-12")) - mp.mpf("1e-18")
    ours = _at(sampled_renyi.sampled_gaussian, float((1 / s) ** 2) * (1 + 4e-16), rate, order=order)
    return ours, truth, 1e-6


def renyi_sampled_pure(rng: random.Random) -> Judged:
    epsilon, rate, order = _power(rng, -6, 2), _power(rng, -9, -0.01), _order(rng)
    q, e, a = mp.mpf(rate), mp.mpf(epsilon), mp.mpf(order)
    high, low = 1 / (1 + mp.exp(-e)), 1 / (1 + mp.exp(e))
    one, two = low + q * (high - low), high + q * (low - high)
    truth = mp.log(one**a * low ** (1 - a) + two**a * high ** (1 - a)) / (a - 1)
    return _at(sampled_renyi.sampled_pure, epsilon, rate, order=order), truth, math.inf


def renyi_to_epsilon(rng: random.Random) -> Judged:
    order, divergence, log_delta = _order(rng), _power(rng, -9, 3), -_power(rng, -2, 2.8)
    a = mp.mpf(order)
    truth = mp.mpf(divergence) + mp.log((a - 1) / a) - (mp.mpf(log_delta) + mp.log(a)) / (a - 1)
    ours = float(to_epsilon(np.array([order]), np.array([divergence]), log_delta)[0])
    return ours, max(truth, 0), math.inf


def renyi_to_delta(rng: random.Random) -> Judged:
    order, divergence = _order(rng), _power(rng, -9, 3)
    epsilon = divergence * rng.uniform(0.5, 3)
    a = mp.mpf(order)
    truth = (a - 1) * (mp.mpf(divergence) - mp.mpf(epsilon)) + (a - 1) * mp.log(a - 1) - a * mp.log(a)
    ours = float(to_log_delta(np.array([order]), np.array([divergence]), epsilon)[0])
    return mp.exp(mp.mpf(ours)), mp.exp(truth), 1e-6


def _best_order(slope: Callable[[float], float]) -> mp.mpf:
    """Return the order at which an increasing `slope` of ln(α − 1) is 0; floats do, as the least value is flat."""
    return 1 + mp.exp(mp.mpf(scipy.optimize.brentq(slope, -60.0, 60.0, xtol=1e-14)))


def zcdp_epsilon(rng: random.Random) -> Judged:
    """The best order solves ρ(α−1)² = −ln(δα)."""
    rho, delta = _power(rng, -6, 2), _delta(rng)
    r, d = mp.mpf(rho), mp.log(_exact(delta))
    best = _best_order(lambda t: rho * math.exp(2 * t) + float(d) + math.log1p(math.exp(t)))
    truth = r * best + mp.log((best - 1) / best) - (d + mp.log(best)) / (best - 1)
    return zcdp.epsilon(Concentrated(Fraction(rho)), delta), max(truth, 0), 1e-4 if truth > 1e-6 else math.inf


def zcdp_delta(rng: random.Random) -> Judged:
    """The best order solves (2α−1)ρ = ε − ln((α−1)/α)."""
    rho = _power(rng, -6, 2)
    epsilon = rho + math.sqrt(rho) * rng.uniform(0, 12)
    r, e = mp.mpf(rho), mp.mpf(epsilon)
    best = _best_order(lambda t: (1 + 2 * math.exp(t)) * rho - epsilon + t - math.log1p(math.exp(t)))
    truth = mp.exp((best - 1) * (r * best - e) + (best - 1) * mp.log(best - 1) - best * mp.log(best))
    return zcdp.delta(Concentrated(Fraction(rho)), Fraction(epsilon)), truth, 1e-3


def optimal_of_equals(rng: random.Random) -> Judged:
    """Kairouz, Oh, Viswanath 2015, Theorem 3.3: judged by the true δ at the ε that is claimed."""
    epsilon, count, delta = Fraction(_power(rng, -4, 1)), rng.randint(1, 40), Fraction(_power(rng, -20, -0.3))
    claimed, e = mp.mpf(composition.optimal(Repeated(Pure(epsilon), count), delta)), _exact(epsilon)
    up = 1 / (1 + mp.exp(-e))
    laws = ((mp.binomial(count, k) * up**k * (1 - up) ** (count - k), (2 * k - count) * e) for k in range(count + 1))
    truth = mp.fsum(mass * -mp.expm1(claimed - loss) for mass, loss in laws if loss > claimed)
    return _exact(delta), truth, math.inf


def optimal_of_different(rng: random.Random) -> Judged:
    first, second = (Fraction(rng.randint(1, 99), 64) for _ in range(2))
    one, two, delta = rng.randint(1, 6), rng.randint(1, 6), Fraction(_power(rng, -12, -0.3))
    event = Composed((Repeated(Pure(first), one), Repeated(Pure(second), two)))
    claimed = mp.mpf(composition.optimal(event, delta))
    truth = mp.mpf(0)
    up, too = (1 / (1 + mp.exp(-_exact(e))) for e in (first, second))
    for j in range(one + 1):
        for k in range(two + 1):
            mass = (
                mp.binomial(one, j)
                * up**j
                * (1 - up) ** (one - j)
                * mp.binomial(two, k)
                * too**k
                * (1 - too) ** (two - k)
            )
            loss = (2 * j - one) * _exact(first) + (2 * k - two) * _exact(second)
            truth += max(mass * -mp.expm1(claimed - loss), 0)
    return _exact(delta), truth, math.inf


def advanced_composition(rng: random.Random) -> Judged:
    epsilon, count, delta = Fraction(_power(rng, -12, 0)), rng.randint(1, 10**9), _delta(rng)
    e, event = _exact(epsilon), Repeated(Pure(epsilon), count)
    spread = mp.sqrt(-2 * mp.log(_exact(delta)) * count) * e
    assert composition.advanced(event, delta) >= min(count * e, spread + count * e * mp.expm1(e))
    smaller = mp.sqrt(2 * mp.log(mp.e + mp.sqrt(count) * e / _exact(delta)) * count) * e
    truth = min(count * e, min(spread, smaller) + count * e * mp.tanh(e / 2))
    return composition.kairouz(event, delta), truth, 1e-9


def exact_prices(rng: random.Random) -> Judged:
    """Prices that are fractions: all but the first 10⁻²³ of each formula."""
    epsilon, rate, scale = (Fraction(_power(rng, *span)) for span in ((-14, 3.1), (-40, -0.01), (-3, 9)))
    with mp.workdps(150):
        e, q = _exact(epsilon), _exact(rate)
        step = 1 / _exact(scale)
        discrete = e - (1 - mp.exp(-e)) * step / mp.sinh(step)
        pairs = [
            (pure.rho(epsilon), e * mp.tanh(e / 2)),
            (pure.sampled(epsilon, rate), mp.log1p(q * mp.expm1(e))),
            (zcdp.laplace_rho(epsilon), e + mp.expm1(-e)),
            (zcdp.discrete_laplace_rho(scale, epsilon), discrete if epsilon * scale >= 1 else mp.mpf(0)),
            (zcdp.randomized_response_rho(epsilon, 3), e * mp.expm1(e) / (mp.exp(e) + 2)),
        ]
        assert all(_exact(ours) >= truth * (1 - mp.mpf("1e-100")) for ours, truth in pairs)
        return _exact(pairs[1][0]), pairs[1][1], math.inf


def logarithms_and_exponentials(rng: random.Random) -> Judged:
    value = Fraction(_power(rng, -300, 0)) / rng.choice([1, 3, 10**200])
    assert rounding.log_rounded_down(value) <= mp.log(_exact(value))
    exponent = -_power(rng, -12, 2.8)
    return rounding.exp_rounded_up(exponent), mp.exp(mp.mpf(exponent)), 1e-10


def groups(rng: random.Random) -> Judged:
    epsilon, delta, size = Fraction(_power(rng, -9, 1)), _delta(rng), rng.randint(1, 60)
    e = _exact(epsilon)
    truth = min(mp.expm1(size * e) / mp.expm1(e) * _exact(delta), 1)
    return group.approximate(epsilon, delta, size)[1], truth, math.inf


def trade_off(rng: random.Random) -> Judged:
    """A trade-off curve promises a least error, so ours may not be above the truth: both are turned round."""
    rate, mu = _power(rng, -12, 0), _power(rng, -6, 1.2)
    epsilon, delta = Fraction(_power(rng, -6, 1)), _delta(rng)
    e, d, x = _exact(epsilon), _exact(delta), mp.mpf(rate)
    truth = max(1 - d - mp.exp(e) * x, mp.exp(-e) * (1 - d - x), 0)
    assert mp.mpf(float(TradeOff.approximate(epsilon, delta)(rate))) <= truth
    quantile = mp.sqrt(2) * mp.erfinv(1 - 2 * x) if x < 1 else -mp.inf
    with mp.workdps(60):
        least = mp.erfc(-(quantile - mp.mpf(mu)) / mp.sqrt(2)) / 2
    return 1 - mp.mpf(float(TradeOff.gaussian(Fraction(mu))(rate))), 1 - least, math.inf


JUDGES = [
    gaussian_delta,
    gaussian_delta_bracket,
    gaussian_epsilon,
    gaussian_epsilon_bracket,
    analytic_calibration,
    renyi_randomized_response,
    renyi_laplace,
    renyi_discrete_laplace,
    renyi_bounded_range,
    renyi_sampled_gaussian,
    renyi_sampled_gaussian_between,
    renyi_sampled_pure,
    renyi_to_epsilon,
    renyi_to_delta,
    zcdp_epsilon,
    zcdp_delta,
    optimal_of_equals,
    optimal_of_different,
    advanced_composition,
    exact_prices,
    logarithms_and_exponentials,
    groups,
    trade_off,
]


def judge(one: Callable[[random.Random], Judged], draws: int, seed: int) -> None:
    """Fail at the first draw at which we are below the truth, or too far above it."""
    rng = random.Random(seed)  # noqa: S311  the same draws in every run
    with mp.workdps(DIGITS):
        for number in range(draws):
            ours, truth, above = one(rng)
            assert ours >= truth, f"{one.__name__}: draw {number} of seed {seed} is below the truth"
            assert truth < 1e-290 or above == math.inf or ours <= truth * (1 + above), (
                f"{one.__name__}: draw {number} is loose"
            )


@pytest.mark.parametrize("one", JUDGES, ids=lambda one: one.__name__)
def test_no_float_curve_is_below_the_truth(one: Callable[[random.Random], Judged]) -> None:
    draws = QUICK // 15 if one is renyi_sampled_gaussian_between else QUICK
    judge(one, draws, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("one", JUDGES, ids=lambda one: one.__name__)
def test_no_float_curve_is_below_the_truth_at_length(one: Callable[[random.Random], Judged]) -> None:
    draws = LONG // 50 if one is renyi_sampled_gaussian_between else LONG
    judge(one, draws, seed=2)


@pytest.mark.parametrize("variance", [11_700_000_000, 10**14, 10**16])
def test_gaussian_noise_with_a_small_shift_at_epsilon_zero(variance: int) -> None:
    """At ε = 0 two tails that are nearly equal were subtracted, and δ fell below erf(μ/√8) by up to 8·10⁻⁷ of it."""
    from sordino.accounting.events import Gaussian

    with mp.workdps(DIGITS):
        truth = mp.erf(1 / mp.sqrt(8 * mp.mpf(variance)))
        assert truth <= gaussian.delta(Gaussian(variance), 0) <= truth * (1 + 1e-10)
