"""Random histories against a model that remembers every grant and adds it all up anew, day by day and pair by pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.books import DAY, Book, digest, policy, rule
from sordino.accounting.budget import Budget
from sordino.accounting.columns import Vector, add
from sordino.accounting.event import Event
from sordino.accounting.events import Gaussian, Laplace, Pure
from sordino.accounting.filter import Filter
from sordino.accounting.neighbours import Neighbours
from sordino.errors import LedgerError
from sordino.ledger.entries import Reserved, from_bytes, to_bytes
from sordino.ledger.scope import Scope
from sordino.ledger.snapshot import from_snapshot, snapshot
from sordino.ledger.state import State

RENYI = Budget(epsilon=2, delta=Fraction(1, 10**6))
BUDGETS = {
    "group:people": Budget(epsilon=5, delta=Fraction(1, 10**5)),
    "dataset:plain": RENYI,
    "dataset:days": RENYI,
    "analyst:ada": Budget(rho=Fraction(1, 2)),
    "analyst:bob": Budget(epsilon=1, delta=Fraction(1, 10**6)),
}
FULL = {text: Filter.open(budget) for text, budget in BUDGETS.items()}
EVENTS: tuple[Event, ...] = (
    Pure(Fraction(1, 3)),
    Laplace(scale=Fraction(1)),
    Laplace(scale=Fraction(4)),
    Pure(Fraction(1, 10**17)),
    Gaussian(variance=Fraction(40)),
    Gaussian(variance=Fraction(400)),
)
DAYS = ("2026-11-03", "2026-11-04", "2026-11-05")


@dataclass(frozen=True)
class Grant:
    event: Event
    scopes: frozenset[str]
    days: frozenset[str]
    period: int


@dataclass
class Model:
    """What was granted, and nothing else."""

    neighbours: Neighbours
    grants: list[Grant] = field(default_factory=list)
    latest: int = 0

    def scopes(self, dataset: str, analyst: str) -> frozenset[str]:
        return frozenset({f"dataset:{dataset}", "group:people"} | ({f"analyst:{analyst}"} & set(BUDGETS)))

    def total(self, text: str, grants: list[Grant]) -> Vector:
        vector = FULL[text].columns.nothing
        for each in grants:
            vector = add(vector, FULL[text].charge(each.event))
        return vector

    def sums(self, text: str, grants: list[Grant]) -> list[list[Vector]]:
        """Return what must be within the caps: of each inner list, in one column for all of it."""
        concerned = [each for each in grants if text in each.scopes]
        if text == "analyst:ada":
            return [[self.total(text, [each for each in concerned if each.period == self.latest // DAY])]]
        if text != "dataset:days":
            return [[self.total(text, concerned)]]
        by_day = {day: [each for each in concerned if day in each.days] for day in DAYS}
        if self.neighbours is not Neighbours.REPLACE_ONE:
            return [[self.total(text, found)] for found in by_day.values()]
        return [[self.total(text, by_day[a] + by_day[b]) for a, b in product(DAYS, DAYS)]]

    def sound(self, grants: list[Grant]) -> bool:
        for text, full in FULL.items():
            for together in self.sums(text, grants):
                own = all(vector[0] <= full.caps[0] for vector in together)
                column = any(all(vector[j] <= full.caps[j] for vector in together) for j in range(1, len(full.caps)))
                if not own or not column:
                    return False
        return True


WISH = st.tuples(
    st.sampled_from(EVENTS),
    st.sampled_from(["plain", "days"]),
    st.sets(st.sampled_from(DAYS), min_size=1),
    st.sampled_from(["ada", "bob", "eve"]),
    st.sampled_from([0, 0, 1000, DAY, -DAY, 9 * DAY]),
    st.none() | st.integers(0, 3),
    st.sampled_from(["settle", "fail", "leave"]),
)


def opened(relation: Neighbours) -> Book:
    protects = {"neighbours": relation}
    return Book(
        group_people=rule(BUDGETS["group:people"], **protects),
        dataset_plain=rule(RENYI, groups=("people",), **protects),
        dataset_days=rule(RENYI, groups=("people",), blocks="owner-in-one-block", **protects),
        analyst_ada=policy(BUDGETS["analyst:ada"], refresh="day"),
        analyst_bob=policy(BUDGETS["analyst:bob"]),
    )


@given(st.sampled_from(Neighbours), st.lists(WISH, max_size=25))
@settings(deadline=None, max_examples=40)
def test_the_state_grants_what_the_model_does(relation: Neighbours, wishes: list[tuple[object, ...]]) -> None:
    book, model, keys = opened(relation), Model(relation), {}
    model.latest = book.now
    for event, dataset, days, analyst, passed, number, outcome in wishes:
        book.now += passed
        when = max(model.latest, book.now)
        asked = (event, dataset, tuple(sorted(days)), analyst)
        key = None if number is None else digest((asked, number))
        decision = book.ask(
            event,
            Scope("dataset", dataset),
            days=tuple(days),
            analyst=analyst,
            key=key,
            request=digest(asked),
            neighbours=relation,
        )
        if key in keys and key is not None:
            assert decision.earlier is not None
            assert decision.earlier.id == keys[key]
            continue
        before, model.latest = model.latest, when
        grant = Grant(event, model.scopes(dataset, analyst), frozenset(days), when // DAY)
        granted = model.sound([*model.grants, grant])
        assert (decision.reserved is not None) == granted == (not decision.shortfalls)
        if decision.reserved is None:
            model.latest = before
            continue
        model.grants.append(grant)
        if key is not None:
            keys[key] = decision.reserved.id
        if outcome != "leave":
            (book.settle if outcome == "settle" else book.fail)(decision.reserved)
    check(book, model)


def check(book: Book, model: Model) -> None:
    """Check totals against the model, and that bytes and snapshots lead to the same state."""
    assert model.sound(model.grants)
    for text in BUDGETS:
        concerned = [each for each in model.grants if text in each.scopes]
        assert book.state.lifetime(Scope.parse(text)) == model.total(text, concerned)
    for day in DAYS:
        concerned = [each for each in model.grants if "dataset:days" in each.scopes and day in each.days]
        assert book.state.spent(Scope("dataset", "days", day)) == model.total("dataset:days", concerned)
    data = snapshot(book.state)
    assert snapshot(book.again()) == data == snapshot(from_snapshot(data))


@given(st.lists(WISH, min_size=1, max_size=12), st.data())
@settings(deadline=None, max_examples=15)
def test_no_entry_can_be_left_out_or_moved(wishes: list[tuple[object, ...]], data: st.DataObject) -> None:
    """Every entry names its position, so whatever is cut out of the middle, repeated or swapped is noticed."""
    book = opened(Neighbours.ADD_REMOVE)
    for event, dataset, days, analyst, *_ in wishes:
        decision = book.ask(event, Scope("dataset", dataset), days=tuple(days), analyst=analyst)
        if isinstance(decision.reserved, Reserved):
            book.settle(decision.reserved)
    spelled = [to_bytes(entry) for entry in book.entries]
    place = data.draw(st.integers(0, len(spelled) - 2))
    other = data.draw(st.integers(0, len(spelled) - 1).filter(lambda at: at != place))
    swapped = [*spelled]
    swapped[place], swapped[other] = spelled[other], spelled[place]
    for altered in (spelled[:place] + spelled[place + 1 :], swapped, [*spelled[: place + 1], *spelled[place:]]):
        with pytest.raises(LedgerError) as caught:
            replayed(altered)
        assert caught.value.code == "SRD-L021"


def replayed(spelled: list[bytes]) -> State:
    state = State()
    for each in spelled:
        state.apply(from_bytes(each))
    return state
