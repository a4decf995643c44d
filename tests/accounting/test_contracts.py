"""The contracts of the room: events and their JSON, bounds, counts, grants."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from dataclasses import FrozenInstanceError, dataclass
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino import accounting
from sordino.accounting.bound import ROW, Bound, Unit
from sordino.accounting.curve import curve, flatten
from sordino.accounting.event import EVENT_TYPES, Event, _plain, event_type
from sordino.accounting.events import (
    Allocated,
    Approximate,
    Composed,
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
    Repeated,
    Replaced,
    Searched,
    Sensitive,
    Shuffled,
    ShuffledLocal,
    ShuffledResponse,
    ShuffledUnary,
    Skellam,
    SmoothCauchy,
    SmoothLaplace,
    SparseVector,
    SummedDiscreteGaussian,
    TruncatedPoissonSampled,
)
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.plan import Plan, Single
from sordino.accounting.relation import relations
from sordino.errors import ArgumentError, GrantError, UnsupportedError

positive = st.fractions(Fraction(1, 10**9), 10**9)
small = st.fractions(Fraction(1, 10**12), Fraction(999, 1000))
counts = st.integers(1, 10**30)
simple = st.one_of(
    st.builds(Laplace, positive, positive),
    st.builds(DiscreteLaplace, positive, counts, counts),
    st.builds(Gaussian, positive, positive),
    st.builds(DiscreteGaussian, positive, positive, counts),
    st.builds(SummedDiscreteGaussian, counts, positive, positive, counts),
    st.builds(Skellam, positive, counts, positive),
    st.builds(Allocated, st.integers(1, 10**9), positive, positive),
    st.builds(lambda v, size, p: GaussianMixture(v, (size, 2 * size), (p, 1 - p)), positive, positive, small),
    st.builds(
        lambda column, *rest: Correlated(tuple(sorted(column, reverse=True)), *rest),
        st.lists(st.integers(1, 10**9), min_size=1, max_size=5),
        st.integers(5, 10**6),
        counts,
        counts,
        positive,
        positive,
    ),
    *(st.builds(kind, positive) for kind in (Exponential, PermuteAndFlip, LaplaceNoisyMax, SmoothCauchy, Ladder)),
    st.builds(SparseVector, positive, positive, counts, st.just(0) | positive),
    st.builds(PartitionSelection, positive, small),
    st.builds(RandomizedResponse, positive, st.integers(2, 10**6)),
    st.builds(SmoothLaplace, positive, small),
    st.builds(Pure, positive),
    st.builds(Approximate, st.just(0) | positive, small),
    st.builds(Concentrated, positive),
    st.builds(Personalised, st.lists(positive, min_size=1, max_size=4).map(tuple)),
    st.builds(Sensitive, positive, st.text(max_size=20)),
    st.builds(Shuffled, positive, st.integers(2, 10**9), small),
    st.builds(ShuffledLocal, positive, st.integers(2, 10**9), small),
    st.builds(ShuffledResponse, positive, st.integers(2, 10**6), st.integers(2, 10**9), small),
    st.builds(lambda other, *rest: ShuffledUnary((1 + other) / 2, other, *rest), small, st.integers(2, 10**9), small),
)
anything = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(PoissonSampled, inner, small),
        st.builds(FixedSizeSampled, inner, st.integers(1, 50), st.integers(50, 10**6)),
        st.builds(Repeated, inner, counts),
        st.builds(Replaced, inner),
        st.builds(Declared, inner, small, st.just(0) | positive),
        st.builds(Searched, inner, st.fractions("1e-9", "0.9"), st.sampled_from((0, 1, Fraction(-1, 3)))),
        st.builds(TruncatedPoissonSampled, inner, small, st.integers(1, 50), st.integers(1, 10**6)),
        st.builds(PoissonSearched, inner, st.fractions("1e-9", 10**9)),
        st.builds(Composed, st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=5,
)


# ---- canonical JSON -------------------------------------------------------------------------------------------------


@given(event=anything)
@settings(max_examples=200)
def test_round_trip(event: Event) -> None:
    text = event.to_json()
    again = Event.from_json(text)
    assert again == event
    assert hash(again) == hash(event)
    assert again.to_json() == text
    assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False) == text


def test_every_type_is_drawn_above() -> None:
    named = {
        *(Laplace, DiscreteLaplace, Gaussian, DiscreteGaussian, Exponential, PermuteAndFlip, LaplaceNoisyMax),
        *(SparseVector, PartitionSelection, RandomizedResponse, SmoothLaplace, SmoothCauchy, Ladder, Pure, Approximate),
        *(Concentrated, Personalised, Sensitive, PoissonSampled, FixedSizeSampled, Shuffled, Replaced, Repeated),
        *(Composed, Correlated, TruncatedPoissonSampled, Declared, Searched, PoissonSearched),
        *(SummedDiscreteGaussian, Skellam, GaussianMixture, Allocated),
        *(ShuffledLocal, ShuffledResponse, ShuffledUnary),
    }
    assert set(EVENT_TYPES.values()) == named


def test_the_canonical_form_never_changes() -> None:
    event = Repeated(PoissonSampled(Gaussian("0.81"), "0.01"), 10)
    assert event.to_json() == (
        '{"count":"10","event":{"event":{"kind":"gaussian","sensitivity_squared":"1","variance":"81/100"},'
        '"kind":"poisson-sampled","rate":"1/100"},"kind":"repeated"}'
    )
    assert Sensitive(1, "ä/1").to_json() == '{"epsilon":"1","kind":"sensitive","policy":{"text":"ä/1"}}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '"3"',
        "null",
        "3",
        "not json",
        '{"kind":"laplace"}',
        '{"kind":"laplace","scale":1}',
        '{"kind":"laplace","scale":"x"}',
        '{"kind":"laplace","scale":"1/0"}',
        '{"kind":"laplace","scale":"-1"}',
        '{"kind":"laplace","scale":"1","colour":"2"}',
        '{"kind":"laplace","scale":true}',
        '{"kind":"repeated","count":"3","event":"5"}',
        '{"neighbours":"add-remove"}',
        '{"kind":"unheard-of"}',
        '{"kind":"sensitive","epsilon":"1","policy":null}',
        pytest.param("[" * 200_000, id="too deep"),
        pytest.param('{"kind":"laplace","scale":"' + "9" * 10_000 + '"}', id="too long"),
    ],
)
def test_what_is_not_an_event_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError):
        Event.from_json(text)


@pytest.mark.parametrize("number", ["1_0", " 1", "1 ", "+1", "01", "-0", "2/4", "1/1", "10/1", "١", "１", "1/2 "])
def test_other_spellings_of_a_number_are_refused(number: str) -> None:
    with pytest.raises(ArgumentError):
        Event.from_json(f'{{"epsilon":"{number}","kind":"pure"}}')


@pytest.mark.parametrize(
    "text",
    [
        '{"kind":"pure","epsilon":"1"}',
        '{"epsilon": "1","kind":"pure"}',
        ' {"epsilon":"1","kind":"pure"}',
        '{"epsilon":"1","kind":"pure"}\n',
        '{"epsilon":"2","epsilon":"1","kind":"pure"}',
        '{"epsilon":"1","kind":"randomized-response"}',
        '{"epsilons":["2","1"],"kind":"personalised"}',
        '{"epsilons":["1","1"],"kind":"personalised"}',
        '{"epsilons":{"text":"12"},"kind":"personalised"}',
        '{"epsilon":"1","kind":"sensitive","policy":"5"}',
        '{"epsilon":"1","kind":"sensitive","policy":true}',
        '{"epsilon":"1","kind":"sensitive","policy":{"neighbours":"add-remove"}}',
        '{"epsilon":"1","kind":"sensitive","policy":{"text":"a","x":"1"}}',
        '{"epsilon":"1","kind":"sensitive","policy":{"text":"\\u0061"}}',
        '{"epsilon":"1","kind":"sensitive","policy":{"text":"\\ud800"}}',
    ],
)
def test_other_spellings_of_an_event_are_refused(text: str) -> None:
    with pytest.raises(ArgumentError):
        Event.from_json(text)


@pytest.mark.parametrize("parts", [5, "12", Pure(1), {Pure(1)}, None])
def test_parts_must_be_a_tuple(parts: object) -> None:
    for kind in (Composed, Personalised):
        with pytest.raises(ArgumentError, match="tuple"):
            kind(parts)


def test_unknown_types_are_named() -> None:
    with pytest.raises(ArgumentError, match=r"'quantum-noise' is not known.*SRD-A004"):
        Event.from_json('{"kind":"quantum-noise","scale":"1"}')


def test_a_type_is_registered_once() -> None:
    with pytest.raises(ValueError, match="registered twice"):
        event_type("laplace")(Laplace)


def test_only_exact_values_are_written() -> None:
    assert _plain(True) is True
    assert _plain(Neighbours.ADD_REMOVE) == {"neighbours": "add-remove"}
    with pytest.raises(TypeError, match="may not hold a float"):
        _plain(0.1)


# ---- events ---------------------------------------------------------------------------------------------------------


def test_numbers_are_read_as_written_and_frozen() -> None:
    assert Laplace(0.1) == Laplace("0.1") == Laplace(Fraction(1, 10))
    with pytest.raises(FrozenInstanceError):
        Laplace(1).scale = Fraction(2)  # type: ignore[misc]
    assert Personalised((2, "0.5", 2)).epsilons == (Fraction(1, 2), Fraction(2))


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, None, "x", "1e500", [1]])
def test_bad_numbers_are_refused(bad: object) -> None:
    for kind in (Laplace, Gaussian, Pure, Exponential, Concentrated, DiscreteLaplace, RandomizedResponse):
        with pytest.raises(ArgumentError):
            kind(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "build",
    [
        lambda: DiscreteLaplace(1, 1.5),
        lambda: DiscreteLaplace(1, 0),
        lambda: RandomizedResponse(1, 1),
        lambda: SparseVector(1, 1, 0),
        lambda: SparseVector(1, 1, 1, -1),
        lambda: Approximate(1, 0),
        lambda: Approximate(-1, "0.1"),
        lambda: PartitionSelection(1, 1),
        lambda: Personalised(()),
        lambda: PoissonSampled(Laplace(1), 0),
        lambda: PoissonSampled(Laplace(1), 2),
        lambda: PoissonSampled("laplace", "0.1"),
        lambda: FixedSizeSampled(Laplace(1), 11, 10),
        lambda: FixedSizeSampled(Laplace(1), 0, 10),
        lambda: Shuffled(1, 1, "0.1"),
        lambda: ShuffledLocal(1, 10**13, "0.1"),
        lambda: ShuffledResponse(1, 1, 10, "0.1"),
        lambda: ShuffledUnary("0.2", "0.2", 10, "0.1"),
        lambda: ShuffledUnary(1, "0.2", 10, "0.1"),
        lambda: ShuffledUnary("0.5", 0, 10, "0.1"),
        lambda: Repeated(Laplace(1), 0),
        lambda: Repeated(Laplace(1), True),
        lambda: Composed((Laplace(1), 3)),
    ],
)
def test_impossible_events_are_refused(build: object) -> None:
    with pytest.raises(ArgumentError):
        build()  # type: ignore[operator]


def test_events_nested_too_deep_are_refused_when_they_are_built() -> None:
    event: Event = Pure(1)
    for _ in range(64):
        event = Repeated(event, 1)
    assert Event.from_json(event.to_json()) == event
    for deeper in (lambda: Repeated(event, 1), lambda: Composed((Pure(1), event)), lambda: PoissonSampled(event, 1)):
        with pytest.raises(ArgumentError, match=r"64 deep.*side by side.*SRD-A002"):
            deeper()


def test_count_is_applied_once_however_deep() -> None:
    inner = Laplace(2)
    event = Repeated(Composed((inner, Repeated(Composed((inner, Repeated(Gaussian(1), 5))), 3))), 7)
    assert flatten(event) == {inner: 28, Gaussian(1): 105}
    assert flatten(Composed(())) == {}
    assert flatten(PoissonSampled(Repeated(inner, 3), "0.5")) == {PoissonSampled(Repeated(inner, 3), "0.5"): 1}


def test_an_unregistered_event_is_refused() -> None:
    @dataclass(frozen=True)
    class Unheard(Event):
        pass

    with pytest.raises(UnsupportedError, match=r"Unheard.*SRD-C001"):
        curve(Unheard(), "pure")
    with pytest.raises(UnsupportedError, match=r"Gaussian.*SRD-C001"):
        curve(Gaussian(1), "pure")


def test_relations_of_events() -> None:
    poisson, fixed = PoissonSampled(Laplace(1), "0.1"), FixedSizeSampled(Laplace(1), 1, 10)
    assert relations(Composed((Laplace(1), Gaussian(1)))) == frozenset(Neighbours)
    assert relations(Repeated(poisson, 3)) == {Neighbours.ADD_REMOVE}
    assert relations(Replaced(poisson)) == {Neighbours.REPLACE_ONE, Neighbours.ZERO_OUT}
    assert relations(RandomizedResponse(1)) == {Neighbours.REPLACE_ONE, Neighbours.ZERO_OUT}
    assert relations(Composed((fixed, Shuffled(1, 9, "0.1"), Replaced(poisson)))) == {Neighbours.REPLACE_ONE}
    for event in (Composed((fixed, poisson)), PoissonSampled(RandomizedResponse(1), "0.5"), Replaced(fixed)):
        with pytest.raises(UnsupportedError, match="SRD-C002"):
            relations(event)


def test_replaced_is_taken_apart() -> None:
    sampled = PoissonSampled(Laplace(1), "0.1")
    event = Replaced(Composed((Repeated(Gaussian(2), 3), DiscreteGaussian(2, 3, 4), Repeated(sampled, 5))))
    assert flatten(event, 2) == {Gaussian(2, 4): 6, DiscreteGaussian(2, 12, 8): 2, Replaced(sampled): 10}
    assert flatten(Replaced(PoissonSampled(Laplace(1), 1))) == {Laplace(1, 2): 1}
    with pytest.raises(UnsupportedError, match="smaller δ"):
        flatten(Replaced(PartitionSelection(3, "0.1")))


# ---- bounds ---------------------------------------------------------------------------------------------------------


def test_scalar_bounds() -> None:
    bound = Bound.scalar("0.5")
    assert (bound.l0, bound.l1, bound.l2_squared, bound.linf) == (1, Fraction(1, 2), Fraction(1, 4), Fraction(1, 2))
    assert (bound.neighbours, bound.unit) == (Neighbours.ADD_REMOVE, ROW)


def consistent(bound: Bound) -> bool:
    """Return whether the norms obey the inequalities that hold between norms of one vector's largest values."""
    return (
        bound.linf <= bound.l1 <= bound.l0 * bound.linf
        and bound.l2_squared <= bound.l1 * bound.linf
        and bound.l2_squared <= bound.l0 * bound.linf**2
    )


norms = st.none() | st.fractions(Fraction(1, 100), 100, max_denominator=100)


@given(l0=st.integers(1, 20), linf=norms, l1=norms, l2=norms, size=st.integers(1, 9))
@settings(max_examples=150)
def test_vector_bounds_are_sound_and_no_looser_than_given(
    l0: int, linf: Fraction | None, l1: Fraction | None, l2: Fraction | None, size: int
) -> None:
    if linf is None and l1 is None and l2 is None:
        with pytest.raises(ArgumentError, match="SRD-A003"):
            Bound.vector(l0=l0)
        return
    bound = Bound.vector(l0=l0, linf=linf, l1=l1, l2=l2)
    assert linf is None or bound.linf <= linf
    assert l1 is None or bound.l1 <= l1
    assert l2 is None or bound.l2_squared <= l2**2
    # a vector that is as large as allowed: m equal entries
    for m in range(1, l0 + 1):
        limits = [limit for limit in (linf, l1 and l1 / m) if limit is not None]
        if l2 is not None:
            limits.append(Fraction(int(10**6 * float(l2) / m**0.5), 10**6))
        entry = min(limits)
        assert entry <= bound.linf
        assert m * entry <= bound.l1
        assert m * entry**2 <= bound.l2_squared
    family = bound.group(size)
    assert (family.l0, family.l1, family.linf) == (size * bound.l0, size * bound.l1, size * bound.linf)
    assert family.l2_squared == size**2 * bound.l2_squared


def test_groups_of_norms_stay_consistent() -> None:
    assert consistent(Bound.vector(l0=4, linf=2))
    assert Bound.vector(l0=3, linf=1).l2_squared == 3
    assert Bound.vector(l0=5, linf=1, l1=2).l2_squared == 2


def test_replacing_doubles_once() -> None:
    bound = Bound.scalar(3, unit=Unit("patient"))
    replaced = bound.replacing()
    assert (replaced.l1, replaced.l2_squared, replaced.l0) == (6, 36, 2)
    assert replaced.neighbours is Neighbours.REPLACE_ONE
    assert replaced.unit == Unit("patient")
    with pytest.raises(ArgumentError, match="SRD-A003"):
        replaced.replacing()


@pytest.mark.parametrize("bad", [0, -1, True, float("nan"), None])
def test_bad_bounds(bad: object) -> None:
    with pytest.raises(ArgumentError):
        Bound.scalar(bad)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError):
        Bound.vector(l0=bad, linf=1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError):
        Bound.scalar(1).group(bad)  # type: ignore[arg-type]


# ---- grants ---------------------------------------------------------------------------------------------------------


def test_a_grant_is_good_once_for_its_event() -> None:
    grant = Grant(Laplace(1), Bound.scalar())
    assert "unused" in repr(grant)
    with pytest.raises(GrantError, match="SRD-G002"):
        grant.use(Laplace(2))
    grant.use(Laplace(1))
    assert "'used'" in repr(grant) or ", used" in repr(grant)
    with pytest.raises(GrantError, match="SRD-G001"):
        grant.use(Laplace(1))


def test_of_many_threads_one_uses_the_grant() -> None:
    for _ in range(20):
        grant, barrier, outcomes = Grant(Pure(1), Bound.scalar()), threading.Barrier(16), []

        def take(grant: Grant = grant, barrier: threading.Barrier = barrier, outcomes: list[bool] = outcomes) -> None:
            barrier.wait()
            try:
                grant.use(Pure(1))
            except GrantError:
                outcomes.append(False)
            else:
                outcomes.append(True)

        threads = [threading.Thread(target=take) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(outcomes) == 1


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_grant_cannot_be_copied(duplicate: object) -> None:
    with pytest.raises(GrantError, match="SRD-G003"):
        duplicate(Grant(Pure(1), Bound.scalar()))  # type: ignore[operator]


def test_the_plan_protocol() -> None:
    assert isinstance(Single(Laplace(1), Bound.scalar()), Plan)
    assert not isinstance(Laplace(1), Plan)


CALCULI = ("pure", "zcdp", "renyi", "gaussian", "pld")


@pytest.mark.parametrize("name", CALCULI)
def test_every_calculus_answers_with_a_float_both_ways(name: str) -> None:
    calculus = getattr(accounting, name)
    event = Gaussian(4) if name == "gaussian" else Laplace(2)
    epsilon = calculus.epsilon(event, "1e-6")
    delta = calculus.delta(event, "0.25")
    assert type(epsilon) is float
    assert type(delta) is float
    assert 0 < delta < 1
    assert accounting.accountants.epsilon(event, "1e-6") <= epsilon
    assert accounting.accountants.delta(event, "0.25") <= delta
    assert accounting.accountants.delta(event, "0.25", name) == delta


def test_the_room_shows_its_calculi_and_not_its_insides() -> None:
    shown = dir(accounting)
    assert {*CALCULI, "accountants", "approximate", "calibration", "composition", "tradeoff"} <= set(shown)
    assert not {"curves", "columns", "units", "mills", "rounding"} & set(shown)
    with pytest.raises(AttributeError):
        accounting.nothing_of_the_kind  # noqa: B018


def test_pure_delta_is_the_curve_of_randomized_response() -> None:
    for total, at in ((Fraction(2), Fraction(1)), (Fraction(1, 10**9), Fraction(0)), (Fraction(900), Fraction(1))):
        with mp.workdps(40):
            whole, part = mp.mpf(total.numerator) / total.denominator, mp.mpf(at.numerator) / at.denominator
            truth = (mp.exp(whole) - mp.exp(part)) / (mp.exp(whole) + 1)
            assert truth <= accounting.pure.delta(Pure(total), at) <= truth * (1 + 1e-9)
    assert accounting.pure.delta(Pure(1), 1) == 0
