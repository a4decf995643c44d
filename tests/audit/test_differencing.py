"""Two averages, an audience's size, a padded question: each gives one person away, but not through an account."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import sordino as so
from audit.people import SEXES, firm
from sordino.audit.attacks.asking import through
from sordino.audit.attacks.audiences import reach
from sordino.audit.attacks.differencing import difference
from sordino.audit.attacks.rates import Contrast, Rate
from sordino.audit.attacks.trackers import track
from sordino.errors import ArgumentError, BudgetError, QuestionError

ALICE: dict[str, str] = {"table": "staff", "value": "salary", "person": "name = 'Alice'"}
DEPARTMENTS = ["sales", "research", "law", "works"]
HIGHEST = 300_000


@pytest.fixture(scope="module")
def staff() -> pd.DataFrame:
    return firm()


@pytest.fixture(scope="module")
def alice(staff: pd.DataFrame) -> Any:
    return staff[staff.name == "Alice"].iloc[0]


@pytest.fixture(scope="module")
def raw(staff: pd.DataFrame) -> Iterator[Callable[[str], Any]]:
    with duckdb.connect() as connection:
        yield asking(connection, staff)


def asking(connection: Any, frame: pd.DataFrame) -> Callable[[str], Any]:
    connection.register("frame", frame)
    connection.execute("CREATE OR REPLACE TABLE staff AS SELECT * FROM frame").fetchall()
    return lambda text: connection.execute(text).fetchall()[0][0]


def protected(frame: pd.DataFrame) -> Any:
    columns = {"salary": so.bounds(0, HIGHEST), "department": so.keys(DEPARTMENTS), "sex": so.keys(SEXES)}
    return so.dataset("staff", frame, unit="id", columns=columns, limits=so.limits(rows=1))


@pytest.fixture(scope="module")
def data(staff: pd.DataFrame) -> Any:
    return protected(staff)


# ---- two averages ---------------------------------------------------------------------------------------------------


def test_two_averages_give_a_salary_to_the_cent(raw: Callable[[str], Any], alice: Any) -> None:
    found = so.audit.difference(raw, **ALICE, among=f"department = '{alice.department}'", truth=alice.salary)
    assert found.error(found.raw) < 0.005
    assert found.raw.asked == 4
    assert found.private is None


def test_so_do_the_averages_before_and_after_she_joined(staff: pd.DataFrame, alice: Any) -> None:
    with duckdb.connect() as before, duckdb.connect() as after:
        asks = asking(before, staff[staff.name != "Alice"]), asking(after, staff)
        found = difference(asks, **ALICE, size=len(staff), truth=alice.salary)
    assert found.error(found.raw) < 0.005
    assert found.raw.asked == 2  # who counts heads at the door need not ask


def test_noise_hides_it(raw: Callable[[str], Any], staff: pd.DataFrame, data: Any, alice: Any) -> None:
    errors, cheap = [], []
    for _ in range(15):
        budget = so.account(data, so.budget(epsilon=1))
        found = difference(raw, **ALICE, size=len(staff), private=through(budget, epsilon=0.5), truth=alice.salary)
        assert found.private is not None
        errors.append(found.error(found.private))
        cheap.append(found.error(found.raw))
    # Each average is off by some 300,000 / (2 · 0.5) / n; times n, and two of them, that is more than any salary.
    assert np.median(errors) > HIGHEST / 10
    assert max(cheap) < 0.005


def test_asking_again_is_ended_by_the_budget(
    raw: Callable[[str], Any], staff: pd.DataFrame, data: Any, alice: Any
) -> None:
    budget = so.account(data, so.budget(epsilon=1))
    ask = through(budget, epsilon=0.1)
    found = difference(raw, **ALICE, size=len(staff), private=ask, rounds=50, truth=alice.salary)
    assert found.private is not None
    assert found.private.refused == "SRD-B001"
    assert found.private.asked == 10
    assert len(found.private.rounds) == 5
    assert found.error(found.private) > 1  # nearer than that is a chance of one in a million
    with pytest.raises(BudgetError):
        ask("SELECT AVG(salary) FROM staff")


def test_two_accounts_before_and_after_are_no_better(staff: pd.DataFrame, alice: Any) -> None:
    accounts = [so.account(protected(frame), so.budget(epsilon=1)) for frame in (staff[staff.name != "Alice"], staff)]
    asks = through(accounts[0], epsilon=0.5), through(accounts[1], epsilon=0.5)
    found = difference(asks, **ALICE, size=len(staff), truth=alice.salary)
    assert found.raw.asked == 2
    assert found.error(found.raw) > 1


@pytest.mark.long
def test_how_often_noise_tells_a_low_salary_from_a_high_one(staff: pd.DataFrame) -> None:
    low, high = (protected(staff.assign(salary=staff.salary.where(staff.name != "Alice", pay))) for pay in (0, HIGHEST))
    said = {}
    for truth, data in ((True, high), (False, low)):
        found = [
            difference(through(so.account(data, so.budget(epsilon=1)), epsilon=0.5), **ALICE, size=len(staff)).raw.value
            for _ in range(150)
        ]
        said[truth] = Rate(int(np.count_nonzero(np.array(found) > HIGHEST / 2)), len(found))
    # Only the average that she is in depends on her: ε = 0.5, and twice that as her row is changed, not taken away.
    assert not Contrast.claiming(said[True], said[False], 1).exceeds()
    assert said[True].share > said[False].share  # the attack is not an empty one either


def test_a_refusal_before_the_first_round_leaves_nothing(raw: Callable[[str], Any], data: Any) -> None:
    budget = so.account(data, so.budget(epsilon=0.1))
    found = difference(raw, **ALICE, private=through(budget, epsilon=0.2))
    assert found.private is not None
    assert (found.private.asked, found.private.rounds) == (0, ())
    assert math.isnan(found.private.value)
    assert "refused" in {text.get_text().split(",")[0] for text in found.figure().axes[0].texts}


def test_other_errors_are_not_swallowed(data: Any) -> None:
    budget = so.account(data, so.budget(epsilon=1))
    with pytest.raises(QuestionError):
        difference(through(budget, epsilon=0.1), table="staff", value="wage", person="name = 'Alice'")
    with pytest.raises(ArgumentError, match="one number at a time"):
        through(budget, epsilon=0.1)("SELECT sex, COUNT(*) FROM staff GROUP BY sex")
    with pytest.raises(ArgumentError, match="before and after"):
        difference((abs, abs, abs), **ALICE)  # type: ignore[arg-type]


# ---- audiences ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def targets(staff: pd.DataFrame) -> dict[int, bool]:
    return {int(who): bool(staff.ill[who]) for who in range(800, 850)}


@pytest.fixture(scope="module")
def own(staff: pd.DataFrame) -> list[int]:
    return [int(who) for who in staff.id[staff.ill] if who < 700]


@pytest.mark.parametrize(("step", "least"), [(10, 100), (50, 0), (1, 20)])
def test_rounding_and_a_threshold_do_not_help(
    raw: Callable[[str], Any], own: list[int], targets: dict[int, bool], step: int, least: int
) -> None:
    def shown(text: str) -> int:
        return max(round(raw(text) / step) * step, least)

    found = so.audit.reach(shown, table="staff", person="id", trait="ill", own=own, targets=targets).raw
    assert found.verdicts.inside.share == 1.0
    assert found.verdicts.outside.share == 0.0
    assert found.asked < len(targets) + 12  # one question each, and a few to find the step


def test_a_counter_that_never_moves_tells_nothing(own: list[int], targets: dict[int, bool]) -> None:
    found = reach(lambda _: 1000, table="staff", person="id", trait="ill", own=own, targets=targets).raw
    assert found.verdicts.inside.cases == 0
    assert found.asked == 2


def test_private_sizes_tell_no_more_than_epsilon_allows(
    raw: Callable[[str], Any], data: Any, own: list[int], targets: dict[int, bool]
) -> None:
    ask = through(so.account(data, so.budget(epsilon=10)), epsilon="0.25")
    words: dict[str, Any] = {"table": "staff", "person": "id", "trait": "ill", "own": own, "targets": targets}
    found = reach(raw, **words, private=ask, epsilon=0.25)
    assert found.private is not None
    assert found.private.refused == "SRD-B001"
    assert found.private.asked == 40  # of 50 targets; then the budget is spent
    assert not found.private.verdicts.exceeds()
    assert found.private.verdicts.advantage < 1
    assert found.raw.verdicts.advantage == 1.0
    assert len(found.figure().axes[0].patches) == 5  # four rates, and what ε allows


def test_a_large_epsilon_protects_nobody(
    raw: Callable[[str], Any], data: Any, own: list[int], targets: dict[int, bool]
) -> None:
    few = dict(list(targets.items())[:10])
    ask = through(so.account(data, so.budget(epsilon=600)), epsilon=60)
    found = reach(raw, table="staff", person="id", trait="ill", own=own, targets=few, private=ask, epsilon=60)
    assert found.private is not None
    assert found.private.verdicts.advantage == 1  # the attack is as strong as the noise is weak
    assert not found.private.verdicts.exceeds()


def test_a_counter_with_too_little_noise_is_found_out(
    raw: Callable[[str], Any], own: list[int], staff: pd.DataFrame
) -> None:
    dice = np.random.default_rng(6)
    targets = {int(who): bool(staff.ill[who]) for who in range(800, 1_100)}
    words: dict[str, Any] = {"table": "staff", "person": "id", "trait": "ill", "own": own, "targets": targets}
    found = reach(raw, **words, private=lambda text: raw(text) + dice.laplace(0, 0.5), epsilon=0.25)
    assert found.private is not None
    assert found.private.verdicts.exceeds()


def test_names_are_quoted(raw: Callable[[str], Any]) -> None:
    found = reach(raw, table="staff", person="name", trait="ill", own=["person 1'", "Alice"], targets={"O'Hara": False})
    assert found.raw.verdicts.outside == Rate(0, 1)
    with pytest.raises(ArgumentError, match="epsilon="):
        reach(raw, table="staff", person="id", trait="ill", own=[1], targets={2: True}, private=raw)
    with pytest.raises(ArgumentError, match="one target"):
        reach(raw, table="staff", person="id", trait="ill", own=[1], targets={})


# ---- trackers -------------------------------------------------------------------------------------------------------


@pytest.fixture
def guarded(raw: Callable[[str], Any], staff: pd.DataFrame) -> Callable[[str], Any]:
    """Return a database that refuses groups of fewer than ten, or of all but ten."""

    def ask(text: str) -> Any:
        size = raw("SELECT COUNT(*) " + text[text.index("FROM") :])
        if not 10 <= size <= len(staff) - 10:
            raise PermissionError
        return raw(text)

    return ask


@pytest.mark.parametrize("tracker", [None, "sex = 'F'"])
def test_trackers_get_past_a_guard_of_sizes(
    guarded: Callable[[str], Any], staff: pd.DataFrame, tracker: str | None
) -> None:
    with pytest.raises(PermissionError):
        guarded("SELECT SUM(salary) FROM staff WHERE department = 'law' AND id = 7")
    for who in range(0, 1_200, 60):
        person = staff.iloc[who]
        found = so.audit.track(
            guarded, table="staff", known=(f"department = '{person.department}'", f"id = {who}"),
            trait="ill", value="salary", tracker=tracker,
        ).raw  # fmt: skip
        assert found.size == 1
        assert found.has_trait == person.ill
        assert found.total == pytest.approx(person.salary, abs=0.005)


def test_a_tracker_that_is_too_small_is_refused(guarded: Callable[[str], Any]) -> None:
    with pytest.raises(PermissionError):
        track(guarded, table="staff", known=("department = 'law'", "id = 7"), tracker="id < 5")


def test_trackers_do_not_get_past_noise(guarded: Callable[[str], Any], staff: pd.DataFrame, data: Any) -> None:
    account = so.account(data, so.budget(epsilon=50))
    verdicts: dict[bool, list[bool | None]] = {True: [], False: []}
    sizes = []
    people = [*np.flatnonzero(staff.ill)[:12], *np.flatnonzero(~staff.ill)[:12]]
    for who in people:
        known = (f"department = '{staff.department[who]}'", f"id = {who}")
        found = track(guarded, table="staff", known=known, trait="ill", private=through(account, epsilon="0.3")).private
        assert found is not None
        verdicts[bool(staff.ill[who])].append(found.has_trait)
        sizes.append(found.size)
    rates = [Rate(sum(map(bool, verdicts[truth])), len(verdicts[truth])) for truth in (True, False)]
    # Of the questions that the verdict rests on, one alone depends on the person's trait, so it is ε and not more.
    assert not Contrast.claiming(*rates, 0.3).exceeds()
    assert rates[0].share - rates[1].share < 1
    assert np.std(sizes) > 1  # one person cannot be told from none


def test_a_tracker_ends_with_the_budget(guarded: Callable[[str], Any], data: Any, alice: Any) -> None:
    ask = through(so.account(data, so.budget(epsilon=1)), epsilon=0.2)
    known = (f"department = '{alice.department}'", "name = 'Alice'")
    found = track(guarded, table="staff", known=known, trait="ill", value="salary", private=ask)
    assert found.private is not None
    assert found.private.asked == 5
    assert found.private.refused == "SRD-B001"
    assert math.isnan(found.private.total)
    assert found.raw.total == pytest.approx(alice.salary)
    assert len(found.figure().axes) == 3
    assert "SRD-B001" in str(found)


def test_without_a_trait_nothing_is_said_of_it(guarded: Callable[[str], Any]) -> None:
    found = track(guarded, table="staff", known=("department = 'law'", "id = 7")).raw
    assert found.has_trait is None
    assert found.asked == 2
