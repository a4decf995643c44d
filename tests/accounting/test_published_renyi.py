"""Rényi divergences of Poisson-sampled Gaussian noise that autodp's own tests hold, taken from TensorFlow Privacy.

They stand in autodp ``test/unit_test_dp_sgd_poisson_sampling_add_remove.py``, which asks only that its own be not below
0.99 of them. There each is repeated for 10 to 10,000 steps, as a multiple of the one here (to the last bit), and for
noise without sampling, where it is α/(2σ²).
"""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from sordino.accounting import renyi
from sordino.accounting.events import Gaussian, PoissonSampled, Repeated

ORDERS = np.array([1.25, 2.0, 2.25, 4.0, 4.5, 10.0, 25.0, 64.0, 128.0])

DIGITS = 1e-9
"""Half of the last digit given here, relative; and what the series that were summed in floats leave out at 1.25."""

# rate and σ, then D_α at each of the orders
_TEXT = """
0.01 0.1  39.47435359 90.78965963 104.2106937 193.8597731 219.0790669
    494.8831442 1245.202948 3195.321732 6395.358569
0.01 0.25  0.1103603174 6.790784235 9.710698229 25.85977309 30.0790669
    74.88314424 195.2029477 507.3217319 1019.358569
0.01 0.5  0.001897773642 0.005345502314 0.008354117752 1.861875513 3.079179601
    14.88314424 45.20294772 123.3217319 251.3585686
0.01 1.0  0.0001053980048 0.0001718134221 0.0001945383385 0.0003631540489 0.0004149270673
    0.03827041889 7.702947727 27.32173187 59.35856863
0.01 2.0  1.771063799e-05 2.840213832e-05 3.197693198e-05 5.715580737e-05 6.44002544e-05
    0.0001456231492 0.0003829780936 3.321746409 11.35856863
0.01 10.0  6.280881026e-07 1.005016203e-06 1.130671444e-06 2.010433796e-06 2.261850948e-06
    5.029098116e-06 1.25916333e-05 3.236121299e-05 6.514386178e-05
0.05 0.1  47.52136461 94.00853545 107.1076819 196.0056903 221.1483442
    496.6714086 1246.879446 3196.956716 6396.980679
0.05 0.25  0.833221307 10.00858035 12.60768208 28.0056903 32.14834422
    76.67140858 196.8794455 508.9567164 1020.980679
0.05 0.5  0.02963273589 0.1257471269 0.2394299356 4.005849391 5.148364568
    16.67140858 46.87944555 124.9567164 252.9806793
0.05 1.0  0.002485316298 0.00428650437 0.004957724286 0.01141626887 0.0143787971
    1.674060564 9.379445549 28.95671642 60.98067928
0.05 2.0  0.0004388760121 0.0007098115659 0.0008014493224 0.001462563213 0.001658113866
    0.004044112498 0.07545190786 4.95671921 12.98067928
0.05 10.0  1.569755324e-05 2.512510207e-05 2.826912331e-05 5.02983779e-05 5.659924543e-05
    0.0001261090836 0.0003175729623 0.0008288460378 0.001713513236
0.1 0.1  50.98708474 95.39482981 108.3553468 196.9298865 222.0395335
    497.4415721 1247.601474 3197.660866 6397.679284
0.1 0.25  1.804874413 11.39484095 13.85534689 28.92988654 33.03953345
    77.44157212 197.6014739 509.6608659 1021.679284
0.1 0.5  0.09126475987 0.4291695906 0.7688994086 4.929960718 6.039543081
    17.44157212 47.60147386 125.6608659 253.6792843
0.1 1.0  0.009408440726 0.01703686324 0.0200961646 0.05867260696 0.08420910672
    2.442816373 10.10147386 29.66086594 61.67928432
0.1 2.0  0.001737654849 0.002836228266 0.00321251216 0.006003282964 0.006856283806
    0.01862425426 0.75148022 5.660867258 13.67928432
0.1 10.0  6.276771862e-05 0.0001004966209 0.0001130843303 0.0002013585356 0.0002266313948
    0.0005061621299 0.001283133367 0.003411063756 0.007298431012
0.2 0.1  54.45281414 96.78112418 109.6030118 197.8540828 222.9307227
    498.2117357 1248.323502 3198.365015 6398.377889
0.2 0.25  3.498808917 12.78112688 15.10301178 29.85408278 33.93072268
    78.21173565 198.3235022 510.3650155 1022.377889
0.2 0.5  0.2693155799 1.145472338 1.716061113 5.854115623 6.930726962
    18.21173565 48.32350217 126.3650155 254.3778893
0.2 1.0  0.03464231665 0.06647221891 0.0802639376 0.2913230801 0.4296978437
    3.21228612 10.82350217 30.36501545 62.37788935
0.2 2.0  0.006824777906 0.01129696499 0.01285885455 0.02497156532 0.0288784851
    0.09784245744 1.459148041 6.365016041 14.37788935
0.2 10.0  0.0002509008472 0.0004019259003 0.000452348708 0.0008064504053 0.0009079912639
    0.002035935314 0.005219181973 0.01433199815 0.03281124876
"""

_ROWS = np.reshape(_TEXT.split(), (-1, 2 + len(ORDERS)))
FIGURES = {(str(row[0]), str(row[1])): row[2:].astype(np.float64) for row in _ROWS}


def integral(sigma: str, rate: str, order: float) -> mp.mpf:
    """Return D_α from its definition, E[(1 + u)^α] under the noise, with 30 digits."""
    q, s, a = mp.mpf(rate), mp.mpf(sigma), mp.mpf(order)
    ends = [-30 * s, -5 * s, 0, mp.mpf("0.5"), 1, a, a + 5 * s, a + 30 * s]
    moment = mp.quad(
        lambda z: mp.npdf(z, 0, s) * (1 + q * mp.expm1((2 * z - 1) / (2 * s * s))) ** a, sorted(set(ends)), maxdegree=8
    )
    return mp.log(moment) / (a - 1)


@pytest.mark.parametrize(("rate", "sigma"), FIGURES)
def test_a_step(rate: str, sigma: str) -> None:
    figures = FIGURES[rate, sigma]
    ours = renyi.curve(PoissonSampled(Gaussian(Fraction(sigma) ** 2), rate), ORDERS)
    assert np.all(ours >= figures * (1 - DIGITS))
    assert np.all(ours <= figures * (1 + 10 * DIGITS))


@pytest.mark.parametrize(
    ("rate", "sigma", "order"),
    [
        ("0.01", "1.0", 1.25),
        ("0.01", "1.0", 2.25),
        ("0.01", "10.0", 1.25),
        ("0.05", "1.0", 1.25),
        ("0.05", "2.0", 1.25),
        ("0.05", "10.0", 1.25),
        ("0.1", "1.0", 1.25),
        ("0.2", "2.0", 1.25),
    ],
)
def test_where_a_figure_errs_it_is_not_ours(rate: str, sigma: str, order: float) -> None:
    """At these, and at no others, the published figure and ours differ by more than 10⁻¹¹: we hold the integral."""
    ours = float(renyi.curve(PoissonSampled(Gaussian(Fraction(sigma) ** 2), rate), np.array([order]))[0])
    with mp.workdps(30):
        truth = integral(sigma, rate, order)
        assert truth <= ours <= truth * (1 + mp.mpf("1e-8"))


@pytest.mark.parametrize("steps", [10, 100, 1000, 5000, 10_000])
def test_steps_multiply(steps: int) -> None:
    one = PoissonSampled(Gaussian(1), "0.05")
    assert renyi.curve(Repeated(one, steps), ORDERS) == pytest.approx(steps * renyi.curve(one, ORDERS), rel=1e-14)


@pytest.mark.parametrize("sigma", [1, 10])
def test_without_sampling(sigma: int) -> None:
    orders = np.array([2.0, 2.5, 4.0, 4.5, 8.0, 8.5])
    ours = renyi.curve(PoissonSampled(Gaussian(sigma**2), 1), orders)
    assert np.all(ours >= orders / (2 * sigma**2))
    assert ours == pytest.approx(orders / (2 * sigma**2), rel=1e-9)
