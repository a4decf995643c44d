"""Each law catches a mechanism, or an accountant, that was broken on purpose."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from laws import references as reference
from laws.cases import CASES
from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.event import EVENT_TYPES, Event
from sordino.accounting.grant import Grant
from sordino.errors import ArgumentError
from sordino.mechanisms.checks import CHECKS, Case, FailedCheckError, check_mechanism, checks
from sordino.mechanisms.checks.draws import audit, claim, fit
from sordino.mechanisms.checks.prices import (
    count_check,
    every_accountant,
    identity_check,
    lost_at_least,
    monotone_check,
    order_check,
)
from sordino.mechanisms.exponential import Exponential
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.mechanism import use_grant
from sordino.mechanisms.randomized_response import RandomizedResponse
from sordino.mechanisms.sparse_vector import AboveThreshold
from sordino.mechanisms.top_k import TopK

BY_NAME = {case.name: case for case in CASES}
HONEST = BY_NAME["laplace"]


def broken(case: Case, build: Callable[[Fraction], Any]) -> Case:
    return dataclasses.replace(case, build=build)


def caught(law: str, case: Case, words: str = "") -> None:
    with pytest.raises(FailedCheckError, match=f"{law} check.*{words}"):
        CHECKS[law](case)


# ---- noise that is not what it says ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class HalfNoise(Laplace):
    """Claims its scale and adds half of it."""

    def release(self, value: Any, grant: Grant) -> Any:
        use_grant(self, grant)
        return value + noise.DiscreteLaplace(self.scale / 2).draw()


@dataclass(frozen=True)
class ArticleAboveThreshold(AboveThreshold):
    """The variant in circulation: Lap(2/ε) and Lap(4/(3ε)), called ε-private for any number of positives."""

    def event(self, _bound: Bound) -> Event:  # type: ignore[override]
        return events.Pure(1)


@dataclass(frozen=True)
class RandomValueResponse(RandomizedResponse):
    """The truth with e^ε/(e^ε+1), else a random value, which may be the truth again."""

    def release(self, value: Any, grant: Grant) -> Any:
        use_grant(self, grant)
        return value if noise.logistic(self.epsilon) else noise.uniform(2)


@dataclass(frozen=True)
class ForgetfulTopK(TopK):
    """Pays for one round of k."""

    def event(self, bound: Bound) -> Event:  # type: ignore[override]
        return events.Exponential(self.epsilon(bound))


@dataclass(frozen=True)
class HalfPriced(Exponential):
    """Claims monotone scores' price for scores that are not."""

    def event(self, bound: Bound) -> events.Exponential:
        return events.Exponential(self.epsilon(bound) / 2)


class TestAudit:
    def test_catches_half_the_noise(self) -> None:
        caught("audit", broken(HONEST, lambda level: HalfNoise(2 * level)))

    @pytest.mark.parametrize(("positives", "above"), [(1, 0), (5, 1)])
    def test_catches_the_sparse_vector_in_circulation(self, positives: int, above: int) -> None:
        case = Case(
            "article",
            lambda _: ArticleAboveThreshold(0, 2, Fraction(4, 3), positives),
            Bound.vector(l0=3 + positives, linf=1),
            value=[-1] * 3 + [above] * positives,
            neighbour=[0] * 3 + [above - 1] * positives,
            outcome=lambda released: released.tolist() == [False] * 3 + [True] * positives,
            draws=8000,
        )
        caught("audit", case, "only 1 is claimed")
        honest = dataclasses.replace(case, build=lambda _: AboveThreshold(0, 2, Fraction(4, 3), positives))
        CHECKS["audit"](honest)

    def test_catches_a_random_value_instead_of_another(self) -> None:
        case = broken(BY_NAME["randomized-response"], lambda level: RandomValueResponse(1 / level))
        assert audit(case) == pytest.approx(1.86, abs=0.3)
        caught("audit", case)

    def test_catches_a_forgotten_count(self) -> None:
        case = Case(
            "forgetful",
            lambda level: ForgetfulTopK(level, 4, count=3),
            Bound.vector(l0=4, linf=1),
            value=[0, 0, 2, 2],
            neighbour=[1, 1, 1, 1],
            outcome=lambda released: set(released[:2].tolist()) == {0, 1},
            draws=12000,
        )
        caught("audit", case, "only 2 is claimed")
        CHECKS["audit"](dataclasses.replace(case, build=lambda level: TopK(level, 4, count=3)))

    def test_catches_a_price_for_monotone_scores(self) -> None:
        caught("audit", broken(BY_NAME["exponential"], lambda level: HalfPriced(level, 3)))

    def test_catches_a_case_that_shows_nothing(self) -> None:
        caught("audit", dataclasses.replace(HONEST, neighbour=HONEST.value, tightness=0.1), "could be shown")

    def test_has_nothing_to_say_without_a_claim(self) -> None:
        case = dataclasses.replace(BY_NAME["is-anomaly"], claim=None)
        assert claim(case) is None
        CHECKS["audit"](case)


class TestPower:
    def test_catches_half_the_noise(self) -> None:
        caught("power", broken(HONEST, lambda level: HalfNoise(2 * level)), "for the noise claimed")

    def test_catches_a_case_that_could_not_tell(self) -> None:
        caught("power", dataclasses.replace(HONEST, draws=50), "could not tell them apart")

    def test_needs_a_law(self) -> None:
        CHECKS["power"](dataclasses.replace(HONEST, law=None))

    def test_catches_outcomes_that_cannot_be(self) -> None:
        seen: Counter[Any] = Counter({0: 500, 1: 480, 2: 20})
        assert fit(seen, {0: 0.5, 1: 0.5}) < 1e-6
        assert fit(Counter({0: 500, 1: 500}), {0: 0.5, 1: 0.5}) > 0.9
        assert fit(Counter({0: 998, 7: 2}), {0: 0.997, 7: 0.003}) > 0.01


# ---- prices that are not right --------------------------------------------------------------------------------------


def forgets_count(event: Event, delta: float) -> Mapping[str, float]:
    """Google's accountant in two branches: the count of a repeated event is lost."""
    while isinstance(event, events.Repeated):
        event = event.event
    return every_accountant(event, delta)


def sums_wrongly(event: Event, _delta: float) -> Mapping[str, float]:
    count = event.count if isinstance(event, events.Repeated) else 1
    count = len(event.events) if isinstance(event, events.Composed) else count
    return {"pure": count**0.5}


def too_cheap(event: Event, delta: float) -> Mapping[str, float]:
    return {name: price * 0.5 for name, price in every_accountant(event, delta).items()}


def forgets_sampling_at_one(event: Event, delta: float) -> Mapping[str, float]:
    prices = every_accountant(event, delta)
    return {n: p * 0.9 for n, p in prices.items()} if isinstance(event, events.PoissonSampled) else prices


class TestPrices:
    def test_count_law_catches_a_forgotten_count(self) -> None:
        with pytest.raises(FailedCheckError, match="count check"):
            count_check(BY_NAME["exponential"], forgets_count)
        with pytest.raises(FailedCheckError, match="no more than one"):
            count_check(BY_NAME["exponential"], lambda _event, _delta: {"renyi": 1.0})
        with pytest.raises(FailedCheckError, match="by pure ε"):
            count_check(BY_NAME["exponential"], sums_wrongly)

    def test_order_law_catches_an_accountant_below_the_truth(self) -> None:
        with pytest.raises(FailedCheckError, match="order check"):
            order_check(HONEST, too_cheap)

    def test_order_law_needs_a_law(self) -> None:
        order_check(dataclasses.replace(HONEST, law=None), too_cheap)

    def test_what_is_lost_is_known_for_coins(self) -> None:
        """One coin with odds e : 1 against 1 : e; ε at δ solves p − e^ε·q = δ. And nothing is lost between equals."""
        p, q = math.e / (1 + math.e), 1 / (1 + math.e)
        here, there = {True: p, False: q}, {True: q, False: p}
        assert lost_at_least(here, there, 1, 0.1) == pytest.approx(math.log((p - 0.1) / q), abs=2e-3)
        assert 2.7 < lost_at_least(here, there, 3, 1e-3) <= math.log((p**3 - 1e-3) / q**3)
        assert lost_at_least(here, here, 3, 1e-3) == 0

    def test_identity_law_catches_amplification_out_of_nothing(self) -> None:
        with pytest.raises(FailedCheckError, match="identity check"):
            identity_check(HONEST, forgets_sampling_at_one)
        with pytest.raises(FailedCheckError, match="at rate 1"):
            identity_check(HONEST, lambda event, _: {"any": 1.0 + isinstance(event, events.PoissonSampled)})

    def test_monotone_law_catches_noise_that_costs(self) -> None:
        with pytest.raises(FailedCheckError, match="rises"):
            monotone_check(broken(HONEST, lambda level: Laplace(2 / level)))
        with pytest.raises(FailedCheckError, match="as much"):
            monotone_check(broken(HONEST, lambda _level: Laplace(2)))


# ---- contracts that are not kept ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Talkative(Laplace):
    """Shows what it refuses."""

    def release(self, value: Any, grant: Grant) -> Any:
        if type(value) is not int:
            raise ArgumentError(f"{value!r} is not an int", "SRD-A001")
        return super().release(value, grant)


@dataclass(frozen=True)
class Chained(Laplace):
    """Shows it in the error behind the error."""

    def release(self, value: Any, grant: Grant) -> Any:
        try:
            int(str(value))
        except ValueError as error:
            raise ArgumentError("this is not an int", "SRD-A001") from error
        return super().release(value, grant)


@dataclass(frozen=True)
class Hasty(Laplace):
    """Uses the grant before it looks at the value."""

    def release(self, value: Any, grant: Grant) -> Any:
        use_grant(self, grant)
        return self.grid.to_steps(value)


@dataclass(frozen=True)
class Tolerant(Laplace):
    """Releases something for anything."""

    def release(self, _value: Any, grant: Grant) -> Any:
        use_grant(self, grant)
        return 0


@dataclass(frozen=True)
class Hoarder(Laplace):
    """Keeps the last value."""

    def release(self, value: Any, grant: Grant) -> Any:
        self.__dict__["last"] = value
        return super().release(value, grant)


@dataclass(frozen=True)
class Rememberer(Laplace):
    """Keeps what it refused where it is printed."""

    def release(self, value: Any, grant: Grant) -> Any:
        self.__dict__["refused"] = value
        return super().release(value, grant)


@dataclass(frozen=True)
class Unguarded(Laplace):
    """Does not ask for a grant."""

    def release(self, value: Any, _grant: Grant) -> Any:
        return value + self.law.draw()


@dataclass(frozen=True)
class Grabber(Laplace):
    """Uses up whatever grant it is given."""

    def release(self, value: Any, grant: Grant) -> Any:
        if isinstance(grant, Grant) and grant.event != self.event(grant.bound):
            grant.use(grant.event)
        return super().release(value, grant)


class Loose:
    """Not even frozen."""

    def __init__(self, scale: Fraction) -> None:
        self.inner = Laplace(scale)

    def event(self, bound: Bound) -> Event:
        return self.inner.event(bound)

    def release(self, value: Any, grant: Grant) -> Any:
        return self.inner.release(value, grant)

    def error(self, confidence: float = 0.95) -> float:
        return self.inner.error(confidence)


@dataclass(frozen=True, eq=False)
class Unequal(Laplace):
    """Built alike, and yet not equal."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass(frozen=True)
class Boastful(Laplace):
    """More confidence, less error."""

    def error(self, confidence: float = 0.95) -> float:
        return 1 - confidence


@dataclass(frozen=True)
class Optimist(Laplace):
    """More noise, less error."""

    def error(self, confidence: float = 0.95) -> float:
        return confidence / float(self.scale)


@dataclass(frozen=True)
class Secret(Event):
    """An event type that nobody registered."""

    scale: Fraction = Fraction(1)


@dataclass(frozen=True)
class Unregistered(Laplace):
    """Names an event that JSON does not know."""

    def event(self, _bound: Bound) -> Any:
        return events.Composed((Secret(),))


FICKLE = iter(range(1, 10**6))


@dataclass(frozen=True)
class Fickle(Laplace):
    """Names another event each time."""

    def event(self, _bound: Bound) -> Any:
        return events.Pure(next(FICKLE))


@pytest.mark.parametrize(
    ("law", "specimen", "words"),
    [
        ("silence", Talkative, "shows the value that it refuses"),
        ("silence", Chained, "shows the value that it refuses"),
        ("silence", Hasty, "only after the grant was used"),
        ("silence", Tolerant, "unfit kind"),
        ("silence", Rememberer, "the mechanism shows a value"),
        ("frozen", Hoarder, "a release changed the mechanism"),
        ("frozen", Loose, "frozen dataclass"),
        ("frozen", Unequal, "not equal"),
        ("grant", Unguarded, "released with a used grant"),
        ("grant", Grabber, "used another event's grant up"),
        ("error", Boastful, "at 99 %"),
        ("error", Optimist, "twice the noise"),
        ("json", Fickle, "two different events"),
    ],
)
def test_contract(law: str, specimen: Any, words: str) -> None:
    caught(law, broken(HONEST, lambda level: specimen(2 * level)), words)


def test_json_law_refuses_an_event_that_is_not_registered() -> None:
    caught("json", broken(HONEST, lambda level: Unregistered(2 * level)), "does not survive")


@dataclass(frozen=True)
class Unstable(Event):
    """An event that its own text does not bring back: it grows each time it is built."""

    size: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", self.size + 1)


@dataclass(frozen=True)
class Restless(Laplace):
    """Names such an event."""

    def event(self, _bound: Bound) -> Any:
        return Unstable()


def test_json_law_catches_an_event_that_its_text_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Unstable, "kind", "test-unstable")
    monkeypatch.setitem(EVENT_TYPES, "test-unstable", Unstable)
    caught("json", broken(HONEST, lambda level: Restless(2 * level)), "does not survive")


def test_all_broken_laws_are_named_together() -> None:
    case = dataclasses.replace(broken(HONEST, lambda level: HalfNoise(2 * level)))
    with pytest.raises(FailedCheckError, match=r"laplace: power check.*audit check.*silence check.*TypeError") as error:
        check_mechanism(case)
    assert "count check" not in str(error.value)


def test_laws_are_named_one_by_one() -> None:
    names = [name for name, _ in checks(HONEST)]
    assert names == list(CHECKS)
    dict(checks(HONEST))["json"]()


def test_references_add_up() -> None:
    """The references are laws: each sums to one, and known values come out."""
    for law in (
        reference.discrete_laplace(2.0),
        reference.discrete_gaussian(3.0),
        reference.rounded_gaussian(3.0),
        reference.permute_and_flip([0, 1, 3], 1.0),
        reference.laplace_max([0, 1, 3], 1.0),
        reference.top_k([0, 1, 3], 1.0, 2),
        reference.above_threshold([0, 1, 3], 1, 2.0, 3.0, 2),
        reference.randomized_response(1, 1.0, 3),
    ):
        assert sum(law.values()) == pytest.approx(1)
    assert reference.discrete_laplace(1.0)[0] == pytest.approx(math.tanh(0.5))
    assert reference.laplace_max([0, 0], 1.0)[0] > 0.5  # the lower index wins ties
    below = reference.cumulative(reference.discrete_laplace(1.0))
    assert [below(-100), below(100)] == [0.0, pytest.approx(1)]
    assert np.isclose(below(-1), (1 - math.tanh(0.5)) / 2)
