"""What a survey says and costs, before anything is charged."""

from __future__ import annotations

import hashlib
import json
import math
from fractions import Fraction

import pytest

from collect.surveys import SHUFFLED, TWO, pets
from sordino.accounting import events
from sordino.accounting.account import Account
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.price import budget_of
from sordino.collect.surveys import survey
from sordino.errors import ArgumentError


def test_a_round_costs_all_that_one_participant_may_send():
    asked = pets(per_day=2, days=30, epsilon="0.5")
    assert asked.event() == events.Repeated(events.RandomizedResponse(Fraction(1, 2), 3), 60)
    price = asked.price(people=10_000)
    assert (price.epsilon_report, price.epsilon_day, price.epsilon, price.delta) == (Fraction(1, 2), 1, 30, 0)
    assert price.size == 1 + 32 + 16 + 1
    e = math.exp(0.5)  # the variance of k-ary response, of a value that a third holds: the mean over all values
    p, q = e / (e + 2), 1 / (e + 2)
    variance = q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q) / 3
    assert price.standard_error == pytest.approx(math.sqrt(10_000 * variance), rel=1e-9)
    assert price.poison == pytest.approx(1 / (p - q), rel=0.5)  # one lie, counted from an honest report on average
    for said in ("2 reports a day", "60 in all", "ε = 0.5", "ε = 1,", "ε = 30", "1.7-fold", "50 bytes", "10,000"):
        assert said in str(price)


def test_a_budget_of_exactly_the_price_holds_it_once():
    for asked in (pets(days=30), pets(**SHUFFLED), pets(trust="two-servers", parties=TWO, days=3)):
        account = Account(budget_of(asked.event()))
        assert account.price(asked.event()).fits
        account.reserve(asked.event(), asked.bound)
        assert not account.price(asked.event()).fits


def test_shuffled_reports_are_priced_at_the_smallest_honest_batch():
    asked = pets(**SHUFFLED, epsilon=1)
    assert asked.event() == events.ShuffledResponse(Fraction(1), 3, 1000, Fraction(1, 10**6))
    price = asked.price()
    assert 0 < price.epsilon < Fraction(1, 2)
    assert price.delta == Fraction(1, 10**6)
    assert "b.example.org mixes the reports" in str(price)
    assert "ε = 1 should it not be honest" in str(price)


def test_what_the_analyser_shuffles_by_its_own_hands_earns_nothing():
    asked = pets(trust="shuffled", batch=1000, delta="1e-6", epsilon=1)
    assert asked.event() == pets(epsilon=1).event()
    assert asked.price().epsilon == 1
    assert "which earns nothing" in str(asked.price())


def test_two_servers_cost_the_noise_of_one_for_each_report():
    for days in (1, 5):
        asked = pets(trust="two-servers", parties=TWO, epsilon=1, days=days)
        price = asked.price()
        assert (price.epsilon, price.delta) == (days, 0)
        # A discrete Laplace of scale t has variance 2r/(1 − r)², r = e^(−1/t); a report moves two counts, so t = 2.
        r = math.exp(-1 / 2)
        assert price.standard_error == pytest.approx(math.sqrt(2 * 2 * r / (1 - r) ** 2), rel=1e-9)
        assert price.poison_of_liars == 100
        assert "Should the two work together" in str(price)


def test_whatever_devices_and_servers_act_upon_is_in_the_digest():
    words = [{}, {"days": 2}, {"per_day": 2}, {"epsilon": 3}, {"unit": "citizen"}, {"question": "?"}, {"round": 2}]
    words += [SHUFFLED, {"trust": "two-servers", "parties": TWO}, {"trust": "two-servers", "parties": TWO[::-1]}]
    words += [{"trust": "shuffled", "batch": 10, "delta": "1e-6"}, {"trust": "shuffled", "batch": 11, "delta": "1e-6"}]
    found = [pets(**each).digest for each in words]
    found.append(survey("pets", KAry(domain=3, epsilon=2)).digest)
    found += [pets(name="pet").digest, pets(way="unary").digest]
    assert len(set(found)) == len(found)


def test_the_digest_is_sha_256_of_plain_json():
    asked = pets()
    spelled = json.dumps(asked.public(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert asked.digest == hashlib.sha256(spelled.encode()).digest()
    assert not any(isinstance(each, float) for each in asked.public().values())


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"per_day": 0}, "SRD-A002"),
        ({"per_day": True}, "SRD-A001"),
        ({"days": 10**5, "per_day": 2}, "SRD-C714"),
        ({"trust": "me"}, "SRD-A001"),
        ({"trust": "shuffled"}, "SRD-C714"),
        ({"trust": "shuffled", "batch": 1000, "delta": "1e-6", "days": 2}, "SRD-C714"),
        ({"batch": 1000, "delta": "1e-6"}, "SRD-C714"),
        ({"parties": TWO}, "SRD-C714"),
        ({"trust": "two-servers"}, "SRD-C714"),
        ({"trust": "two-servers", "parties": TWO[:1]}, "SRD-C714"),
        ({"trust": "two-servers", "parties": [TWO[0], {**TWO[1], "url": ""}]}, "SRD-C714"),
        ({**SHUFFLED, "parties": [TWO[0], {**TWO[1], "url": ""}]}, "SRD-C714"),
        ({"trust": "two-servers", "parties": [TWO[0], TWO[0]]}, "SRD-C714"),
        ({"trust": "two-servers", "parties": [TWO[0], {**TWO[1], "url": "http://b.example.org"}]}, "SRD-C714"),
        ({"trust": "two-servers", "parties": [TWO[0], {**TWO[1], "key": "x"}]}, "SRD-C716"),
        ({"trust": "two-servers", "parties": TWO, "batch": 10, "delta": "1e-6"}, "SRD-C714"),
        ({"unit": "two words"}, "SRD-A001"),
        ({"question": "?" * 3000}, "SRD-A001"),
        ({"round": 0}, "SRD-A002"),
        ({"epsilon": 0}, "SRD-A002"),
        ({"epsilon": float("nan")}, "SRD-A001"),
        ({"epsilon": 33}, "SRD-A002"),
    ],
)
def test_mistakes_of_owners_are_refused_with_a_remedy(words, code):
    with pytest.raises(ArgumentError) as refusal:
        pets(**words)
    assert refusal.value.code == code


def test_what_is_no_way_to_answer_is_refused():
    with pytest.raises(ArgumentError, match="SRD-C714"):
        survey("pets", object())
