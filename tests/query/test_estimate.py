from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import ArgumentError
from sordino.noise import DiscreteLaplace, RoundedGaussian
from sordino.query.estimate import estimate as estimates
from sordino.query.estimate.estimate import Chosen, Combined, Derived, Estimate, Linear, Picked, Several
from sordino.query.estimate.polish import Polished, polish
from sordino.query.estimate.ratio import Occupied, Ratio, blank_where_empty
from sordino.query.estimate.tails import Noise, half_width

STEPS = 2**10
GROUPS = 20_000
LAWS = {"laplace": DiscreteLaplace(8 * STEPS), "gaussian": RoundedGaussian((10 * STEPS) ** 2)}
FEW_SIGMAS = 5.0


def covered(estimate: Estimate, truth: float, confidence: float = 0.95) -> float:
    low, high = estimate.interval(confidence)
    assert np.all(low <= estimate.values)
    assert np.all(estimate.values <= high)
    return float(np.mean((low <= truth) & (truth <= high)))


def allowed(confidence: float, count: int = GROUPS) -> float:
    return FEW_SIGMAS * math.sqrt(confidence * (1 - confidence) / count)


# ---- linear ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_linear_intervals_cover(law: DiscreteLaplace | RoundedGaussian, confidence: float) -> None:
    released = 1000 + 0.5 * law.draw(GROUPS) - 2 * law.draw(GROUPS)
    linear = Linear(released, [(law, 0.5), (law, -2.0)])
    assert abs(covered(linear, 1000, confidence) - confidence) <= allowed(confidence) + 0.003
    assert np.std(released) == pytest.approx(linear.standard_error[0], rel=0.05)


def test_linear_keeps_rows() -> None:
    linear = Linear(np.array([1.0, 2.0, 3.0]), [(DiscreteLaplace(1), 1.0)], whole=True).take(np.array([2, 0]))
    assert linear.values.tolist() == [3.0, 1.0]
    assert linear.whole


# ---- ratios ---------------------------------------------------------------------------------------------------------


def mean_of(count: float, share: float, law: DiscreteLaplace | RoundedGaussian, groups: int = GROUPS) -> Ratio:
    """Return means of `count` values in [−50, 150] whose true mean is −50 + 200·share, from noisy pairs."""
    pair = np.array([count * 2 * STEPS * share + law.draw(groups), count * 2 * STEPS * (1 - share) + law.draw(groups)])
    return Ratio(pair, [law, law], [150.0, -50.0], [1.0, 1.0], -50.0, 150.0)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("count", [0, 3, 30, 300, 30_000])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.97])
def test_mean_intervals_cover_for_every_size(
    law: DiscreteLaplace | RoundedGaussian, count: float, share: float
) -> None:
    ratio = mean_of(count, share, law)
    inside = covered(ratio, -50 + 200 * share)
    assert inside >= 0.95 - allowed(0.95)
    if count >= 3000 and 0 < share < 0.9:
        assert inside <= 0.955 + allowed(0.95)


def test_mean_intervals_have_power() -> None:
    ratio = mean_of(3000, 0.3, LAWS["laplace"])
    low, high = ratio.interval(0.95)
    truth = 10 + 0.5 * float(np.median(high - low))
    assert covered(ratio, truth) < 0.9


def test_a_mean_of_nobody_is_anything() -> None:
    ratio = mean_of(0, 0.0, DiscreteLaplace(8 * STEPS), 1000)
    low, high = ratio.interval(0.95)
    whole_range = (low == -50) & (high == 150)
    assert np.mean(whole_range) > 0.8
    assert np.all(ratio.values[ratio._bottoms <= 0] == 50)
    assert np.all(np.isnan(ratio.standard_error) == (ratio._bottoms <= 0))


def test_a_mean_is_blank_where_the_group_may_be_empty() -> None:
    """Of 1,000 empty groups about 25 have a number of rows above what noise reaches to both sides at 95 %."""
    empty, full = (blank_where_empty(mean_of(rows, 0.0, DiscreteLaplace(8 * STEPS), 1000)) for rows in (0, 300))
    assert isinstance(empty, Occupied)
    blank = np.isnan(empty.values)
    assert 900 < blank.sum() < 1000
    for end in empty.interval(0.95):
        assert np.array_equal(np.isnan(end), blank)
    assert np.array_equal(np.isnan(empty.take(np.arange(10)).values), blank[:10])
    assert not np.isnan(full.values).any()
    assert np.array_equal(full.interval(0.9), full.source.interval(0.9))


def test_means_stay_in_range_and_never_claim_certainty() -> None:
    ratio = mean_of(300, 0.0, DiscreteLaplace(8 * STEPS))
    low, high = ratio.interval(0.95)
    assert ratio.values.min() == -50
    assert np.all((low >= -50) & (high <= 150))
    assert np.all(high > low)


def test_a_standard_error_is_the_spread_of_large_groups() -> None:
    ratio = mean_of(30_000, 0.3, RoundedGaussian((10 * STEPS) ** 2))
    assert np.std(ratio.values) == pytest.approx(float(np.median(ratio.standard_error)), rel=0.05)


def brute_force(ratio: Ratio, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Try many ratios one by one, with exact half widths."""
    grid = np.linspace(ratio.low, ratio.high, 2001)

    def noises(theta: float) -> list[tuple[Noise, float]]:
        coefficients = np.asarray(ratio.numerator) - theta * np.asarray(ratio.denominator)
        return list(zip(ratio.laws, coefficients.tolist(), strict=True))

    accepted = np.array(
        [np.abs(ratio._tops - theta * ratio._bottoms) <= half_width(noises(theta), confidence) for theta in grid]
    )
    low = np.where(accepted.any(axis=0), grid[accepted.argmax(axis=0)], np.nan)
    high = np.where(accepted.any(axis=0), grid[len(grid) - 1 - accepted[::-1].argmax(axis=0)], np.nan)
    return low, high


@pytest.mark.parametrize("count", [3, 30, 300])
def test_chords_agree_with_trying_every_ratio(count: int) -> None:
    law = DiscreteLaplace(8 * STEPS)
    ratio = mean_of(count, 0.4, law, 50)
    low, high = ratio.interval(0.9)
    other_low, other_high = brute_force(ratio, 0.9)
    step = 200 / 2000
    found = ~np.isnan(other_low)
    assert np.all(low[found] <= other_low[found] + 1e-9)
    assert np.all(high[found] >= other_high[found] - 1e-9)
    if count > 3:  # in smaller groups the denominator may be all but zero, where a little more noise changes much
        assert np.all((high - low)[found] <= 1.02 * (other_high - other_low)[found] + 2 * step + 1e-9)


def test_a_ratio_of_separate_sums_covers() -> None:
    count_law, sum_law = DiscreteLaplace(40), RoundedGaussian(10**6)
    released = np.array([5000 + sum_law.draw(GROUPS), 500 + count_law.draw(GROUPS)], dtype=np.float64)
    ratio = Ratio(released, [sum_law, count_law], [1.0, 0.0], [0.0, 1.0], 0.0, 100.0)
    assert covered(ratio, 10.0) >= 0.95 - allowed(0.95)


def test_a_ratio_takes_rows_and_degenerate_ranges() -> None:
    law = DiscreteLaplace(4)
    ratio = Ratio(np.array([[10.0, 20.0], [5.0, 5.0]]), [law, law], [1.0, 0.0], [0.0, 1.0], 0.0, 9.0)
    assert ratio.take(np.array([1])).values.tolist() == [4.0]
    fixed = Ratio(np.array([[10.0], [5.0]]), [law, law], [1.0, 0.0], [0.0, 1.0], 3.0, 3.0)
    assert [end.tolist() for end in fixed.interval(0.95)] == [[3.0], [3.0]]
    above = math.nextafter(3.0, 4.0)
    narrow = Ratio(np.array([[10.0], [5.0]]), [law, law], [1.0, 0.0], [0.0, 1.0], 3.0, above)
    assert [end.tolist() for end in narrow.interval(0.95)] == [[3.0], [above]]


def test_a_ratio_refuses_what_does_not_fit() -> None:
    with pytest.raises(ArgumentError, match="one law"):
        Ratio(np.zeros((2, 1)), [DiscreteLaplace(1)], [1.0, 1.0], [1.0, 1.0], 0.0, 1.0)


# ---- derived --------------------------------------------------------------------------------------------------------


def spread(moments: np.ndarray) -> np.ndarray:
    count = np.where(moments[0] > 0, moments[0], np.nan)
    return np.asarray(moments[2] / count - (moments[1] / count) ** 2)


def correlation(moments: np.ndarray) -> np.ndarray:
    count = np.where(moments[0] > 0, moments[0], np.nan)
    x, y, xx, yy, xy = (moments[place] / count for place in range(1, 6))
    scale = np.sqrt(np.maximum(xx - x * x, 0) * np.maximum(yy - y * y, 0))
    return np.asarray((xy - x * y) / np.where(scale > 0, scale, np.nan))


def noisy(exact: list[float], laws: list[DiscreteLaplace | RoundedGaussian], groups: int) -> np.ndarray:
    return np.array([value + law.draw(groups) for value, law in zip(exact, laws, strict=True)], dtype=np.float64)


@pytest.mark.parametrize("law", [DiscreteLaplace(2000), RoundedGaussian(3000**2)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("count", [300, 3000])
def test_variance_intervals_cover(law: DiscreteLaplace | RoundedGaussian, count: int) -> None:
    unit = 100.0  # values in steps of 1/100 of the half range
    exact = [count * unit, count * 0.2 * unit, count * (0.04 + 0.09) * unit]
    scaled = [law, law, law]
    released = noisy([value * 1000 / unit for value in exact], scaled, 4000)
    derived = Derived(spread, released, scaled, 0.0, 1.0)
    assert covered(derived, 0.09) >= 0.95 - 0.01 - allowed(0.95, 4000)


def test_correlation_intervals_cover() -> None:
    law = RoundedGaussian(4000**2)
    moments = [1.0, 0.1, -0.2, 0.01 + 0.25, 0.04 + 0.16, -0.02 + 0.5 * 0.5 * 0.4]
    released = noisy([2000 * 1000 * value for value in moments], [law] * 6, 3000)
    derived = Derived(correlation, released, [law] * 6, -1.0, 1.0)
    assert covered(derived, 0.5) >= 0.94 - allowed(0.95, 3000)


def test_an_undefined_function_opens_the_interval() -> None:
    law = DiscreteLaplace(50)
    derived = Derived(spread, np.array([[1.0, -500.0], [0.0, 0.0], [1.0, 1.0]]), [law] * 3, 0, 7)
    low, high = derived.interval(0.95)
    assert (low[0], high[0]) == (low[1], high[1]) == (0.0, 7.0)
    assert np.isnan(derived.values[1])


def test_derived_intervals_are_the_same_each_time_and_for_parts() -> None:
    law = DiscreteLaplace(50)
    derived = Derived(lambda moments: moments[0] * moments[1], np.full((2, 3000), 1e4), [law, law])
    first, again = derived.interval(0.9), derived.interval(0.9)
    assert np.array_equal(first, again)
    part = derived.take(np.array([5, 1200]))
    assert np.array_equal(part.interval(0.9)[0], first[0][[5, 1200]])
    assert derived.standard_error is None
    assert [end.tolist() for end in part.interval("0.9999")] == [[-np.inf] * 2, [np.inf] * 2]


# ---- others ---------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]))
def test_no_laplace_sum_reaches_beyond_the_worst_factor(weights: list[float], confidence: float) -> None:
    noises = [(DiscreteLaplace(2**20), weight) for weight in weights]
    deviation = math.sqrt(sum(law.variance * weight**2 for law, weight in noises))
    # half_width is up to 0.15 % too wide itself
    assert half_width(noises, confidence) <= deviation * estimates._worst_factor(True, confidence) * 1.0015


def test_combined_intervals_cover() -> None:
    law = DiscreteLaplace(1000)
    released = (law.draw((GROUPS, 3)) * [1.0, 0.4, 0.7]).sum(axis=1)
    combined = Combined(released, np.full(GROUPS, law.variance * (1 + 0.16 + 0.49)), laplace=True)
    inside = covered(combined, 0.0)
    assert 0.95 - allowed(0.95) <= inside <= 0.965
    normal = Combined(np.zeros(2), np.array([1.0, 4.0]), laplace=False)
    assert normal.interval(0.95)[1] == pytest.approx([1.96, 3.92], rel=1e-3)
    assert normal.take(np.array([1])).standard_error.tolist() == [2.0]


def test_chosen_values_lie_in_their_intervals() -> None:
    chosen = Chosen(np.array([5.0, 1.0]), lambda _: (np.array([2.0, 2.0]), np.array([4.0, 4.0])), whole=True)
    assert [end.tolist() for end in chosen.interval(0.95)] == [[2.0, 1.0], [5.0, 4.0]]
    assert [end.tolist() for end in chosen.take(np.array([1])).interval(0.95)] == [[1.0], [4.0]]


def test_lists_of_estimates_stand_side_by_side() -> None:
    law = DiscreteLaplace(1)
    several = Several(
        (Linear(np.array([1.0, 2.0]), [(law, 1.0)]), Linear(np.array([3.0, 4.0]), [(law, 2.0)])), ("a", "b")
    )
    assert several.values.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    low, high = several.take(np.array([1])).interval(0.95)
    assert low.shape == high.shape == (1, 2)
    assert (high - low)[0, 1] == 2 * (high - low)[0, 0]


def test_picked_values_can_be_taken() -> None:
    assert Picked([["a"], ["b"]], lists=True).take(np.array([1])).values == [["b"]]


# ---- polish ---------------------------------------------------------------------------------------------------------

LAPLACE = DiscreteLaplace(10)


def test_polish_does_nothing_unasked() -> None:
    linear = Linear(np.array([-1.5]), [(LAPLACE, 1.0)])
    assert polish(linear) is linear


def test_polish_rounds_and_cuts_values_and_intervals() -> None:
    linear = Linear(np.array([-12.0, 3.0, 100.0]), [(LAPLACE, 1.0)], whole=True)
    polished = polish(linear, integers=True, non_negative=True)
    assert polished.values.tolist() == [0.0, 3.0, 100.0]
    low, high = polished.interval(0.95)
    assert low.tolist() == [0.0, 0.0, 70.0]
    assert high.tolist() == [18.0, 33.0, 130.0]
    assert isinstance(polished, Polished)
    assert polished.take(np.array([2])).values.tolist() == [100.0]
    assert polished.standard_error is not None


def test_polish_widens_to_whole_numbers_where_the_truth_may_be_a_fraction() -> None:
    polished = polish(Linear(np.array([3.4]), [(LAPLACE, 0.25)]), integers=True)
    low, high = polished.interval(0.95)
    assert (polished.values[0], low[0], high[0]) == (3.0, -5.0, 11.0)
    tight = polish(Linear(np.array([3.0]), [(LAPLACE, 1.0)], whole=True), non_negative=True)
    assert tight.interval(0.95)[0].tolist() == [0.0]


def test_polished_intervals_cover_as_before() -> None:
    law = DiscreteLaplace(100)
    linear = Linear(7.0 + law.draw(GROUPS), [(law, 1.0)], whole=True)
    polished = polish(linear, integers=True, non_negative=True)
    assert isinstance(polished, Estimate)
    assert covered(polished, 7.0) >= covered(linear, 7.0)


def test_polish_reaches_into_lists() -> None:
    several = Several((Linear(np.array([-4.0]), [(LAPLACE, 1.0)]),))
    polished = polish(several, non_negative=True)
    assert polished.values.tolist() == [[0.0]]
    assert polished.interval(0.95)[0].tolist() == [[0.0]]
