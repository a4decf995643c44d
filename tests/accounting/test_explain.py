from __future__ import annotations

import json
import math
from decimal import ROUND_UP, Context, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting.explain import explain
from sordino.accounting.tradeoff import TradeOff
from sordino.errors import ArgumentError


@settings(deadline=None, max_examples=100)
@given(st.floats(0, 20), st.one_of(st.just(0.0), st.floats(1e-12, 0.3)))
def test_figures_are_the_formulas_rounded_outward(epsilon: float, delta: float) -> None:
    told = explain(epsilon, delta)
    for reading, size in ((told.person, 1), (told.family, 5)):
        odds = math.exp(size * epsilon)
        assert reading.odds_most == pytest.approx(odds, rel=1e-12)
        assert reading.odds_least == pytest.approx(1 / odds, rel=1e-12)
        assert Fraction(reading.odds_most) * Fraction(reading.odds_least) <= 1 + Fraction(1, 10**15)
        group_delta = min(delta * sum(math.exp(k * epsilon) for k in range(size)), 1)
        assert group_delta * (1 - 1e-14) <= reading.delta <= group_delta * (1 + 1e-10)
        advantage = min((odds - 1 + 2 * group_delta) / (odds + 1), 1)
        assert reading.attack_accuracy == pytest.approx((1 + advantage) / 2, rel=1e-10)
        for belief in reading.beliefs:
            p = belief.before
            assert belief.most == pytest.approx(p * odds / (p * odds + 1 - p), rel=1e-12)
            assert belief.least == pytest.approx(p / odds / (p / odds + 1 - p), rel=1e-12)
            assert belief.least <= p <= belief.most


def test_published_values() -> None:
    """Randomized response with two fair coins has ε = ln 3: three in four answers are true."""
    told = explain(math.log(3))
    assert told.person.odds_most == pytest.approx(3)
    assert told.person.attack_accuracy == pytest.approx(0.75)
    assert told.person.beliefs[2].most == pytest.approx(0.75)


def test_the_text_for_one_and_a_millionth() -> None:
    text = str(explain(1, 1e-6, people=10_000))
    for part in (
        "ε = 1, δ = 1e-06",
        "at most 2.72 times, and at least 0.367 times",
        "of  1 % can become 0.37 % to 2.68 %",
        "of 10 % can become 3.92 % to 23.2 %",
        "of 50 % can become 26.8 % to 73.2 %",
        "right at most 73.2 % of the time (a coin flip: 50 %)",
        "family of five, together (ε = 5)",
        "1 in 1,000,000",
        "Among 10,000 people that is 0.01 of them on average",
        "at most 1 %",
        "keeps to the rule of thumb",
    ):
        assert part in text, part


@pytest.mark.parametrize(
    ("delta", "people", "words"),
    [
        (1e-6, None, "far below 1/n"),
        (1e-6, 10**4, "keeps to the rule"),
        (1e-6, 10**5, "more than the rule of thumb"),
        (1e-6, 10**6, "publishing somebody's record"),
        (0, 10**6, "no chance of failure"),
    ],
)
def test_what_delta_means(delta: float, people: int | None, words: str) -> None:
    assert words in str(explain(1, delta, people))


def test_a_family_can_be_left_without_a_promise() -> None:
    assert "nothing is promised to them as a group" in str(explain(3, 0.01))


def test_groups_and_records_that_go_together_are_spoken_of() -> None:
    text = str(explain(1, "1e-9"))
    assert "ε = 5" in text  # kε for five
    assert "8.58e-8" in text  # (1 + e + e² + e³ + e⁴)·10⁻⁹ = 85.79…·10⁻⁹, rounded up
    assert "Where the data of k people go together" in text
    assert "(1 + e^ε + … + e^((k−1)ε))·δ" in text


def test_perfect_privacy() -> None:
    told = explain(0)
    assert told.person.odds_most == told.person.odds_least == 1
    assert told.person.attack_accuracy == 0.5
    assert "no result depends on their data" in str(told)


def test_near_certainty_keeps_its_digits_and_stays_above() -> None:
    text = str(explain(10))
    assert "99.9955 %" in text
    assert explain(10).person.attack_accuracy < 0.999955
    assert "22,100 times" in text
    assert "5.19e21 times" in text


def test_least_and_most_are_rounded_outward_in_the_text() -> None:
    for epsilon in ("0.01", "0.1", "0.7", 2, 4, 7):
        text = str(explain(epsilon))
        most, least = (float(text.split(f"at {word} ")[1].split()[0].replace(",", "")) for word in ("most", "least"))
        assert most >= math.exp(float(epsilon))
        assert least <= math.exp(-float(epsilon))


def test_the_dictionary_is_json() -> None:
    told = explain(1, 1e-6, people=100)
    body = json.loads(json.dumps(told.to_dict(), allow_nan=False))
    assert body["epsilon"] == 1.0
    assert body["expected_failures"] == pytest.approx(1e-4)
    assert body["person"]["size"] == 1
    assert body["family"]["epsilon"] == 5.0
    assert body["person"]["beliefs"][0]["before"] == 0.01
    assert body["text"] == str(told)
    assert explain(100, 0.5).to_dict()["family"]["delta"] == 1.0


@pytest.mark.parametrize(
    ("epsilon", "delta", "people"),
    [
        (-1, 0, None),
        (float("nan"), 0, None),
        (float("inf"), 0, None),
        (True, 0, None),
        (101, 0, None),
        (1, 1, None),
        (1, -1e-6, None),
        (1, 0, 0),
        (1, 0, 2.5),
        (1, 0, True),
        ("1e400", 0, None),
    ],
)
def test_bad_arguments_are_refused(epsilon: object, delta: object, people: object) -> None:
    with pytest.raises(ArgumentError):
        explain(epsilon, delta, people)  # type: ignore[arg-type]


def test_plot_shows_person_family_and_others() -> None:
    figure = explain(1, 1e-6).plot({"its noise": TradeOff.gaussian(0.5)})
    (axes,) = figure.axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == [
        "perfect privacy: mere guessing",
        "one person, ε = 1, δ = 1e-06",
        "a family of five, ε = 5",
        "its noise",
    ]


def test_the_promise_itself_is_rounded_up() -> None:
    assert str(explain("1.00000049", "1.00000049e-6")).startswith("ε = 1.00001, δ = 1.00001e-06")


def test_the_callers_decimal_context_changes_no_figure() -> None:
    expected = str(explain(5, 1e-6, people=1000))
    with localcontext(Context(prec=2, rounding=ROUND_UP)):
        assert str(explain(5, 1e-6, people=1000)) == expected
