"""Pan-private counts at work: the law of what is held, estimates, what is charged, files, restarts and silence."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sordino as so
from collect.visits import house, in_memory, kept, unlimited
from sordino.accounting import pure
from sordino.accounting.neighbours import Neighbours
from sordino.audit import measure
from sordino.collect.pan.cells import Cells
from sordino.collect.pan.coins import ONE, Coins
from sordino.collect.pan.counting import PanCount
from sordino.collect.pan.opening import density, distinct, heavy
from sordino.errors import ArgumentError, BudgetError, GrantError, RunError, SordinoError
from sordino.mechanisms.checks.draws import CHANCE, fit

CANARY = "canary-4711-of-oslo"
ITEMS = ["bread", "milk", "salt"]


def state(count: PanCount) -> np.ndarray[Any, Any]:
    return count._cells.values


class TestLaw:
    """What is held has exactly the law that is proven private: accepted as claimed, rejected at 0.7 and 1.3 of it."""

    @pytest.mark.parametrize("items", [1, 3])
    @pytest.mark.parametrize("randomised", [0, 1, 2])
    def test_of_a_cell(self, items: int, randomised: int) -> None:
        coins = Coins(items, 2, ONE * 6 // 10, ONE * 8 // 10)
        cells = Cells.fresh(coins, 60_000)
        cells.put(np.arange(20_000), 1)
        for _ in range(randomised):
            cells.randomise()
        cells.put(np.arange(20_000, 40_000), np.full(20_000, items))
        came, later, never = (Counter(part.tolist()) for part in np.split(cells.values, 3))
        values = items + 1
        for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
            strength = 0.6 * 0.8**randomised * factor
            for seen, item in ((came, 1), (later, items)):
                law = {value: strength * (value == item) + (1 - strength) / values for value in range(values)}
                assert (fit(seen, law) > CHANCE) == right, (factor, seen)
        assert fit(never, dict.fromkeys(range(values), 1 / values)) > CHANCE

    def test_randomising_keeps_as_many_as_it_says(self) -> None:
        cells = Cells.fresh(Coins(1, 2, ONE // 2, ONE * 3 // 4), 50_000)
        before = cells.values.copy()
        cells.randomise()
        same = Counter((before == cells.values).tolist())
        for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
            stays = 0.75 * factor
            assert (fit(same, {True: (1 + stays) / 2, False: (1 - stays) / 2}) > CHANCE) == right

    def test_of_several_updates_the_last_counts(self) -> None:
        cells = Cells.fresh(Coins(2, 1, ONE - 1, 0), 100)
        cells.put(np.repeat(np.arange(100), 2), np.tile([1, 2], 100))
        assert set(cells.values.tolist()) == {2}


class TestEstimates:
    @pytest.mark.parametrize("saves", [0, 1])
    def test_distinct(self, saves: int, tmp_path: Path) -> None:
        errors = []
        for number in range(40):
            count = distinct(
                unlimited(), expected=5_000, epsilon=3, saves=saves, file=tmp_path / f"{number}", releases=1
            )
            count.add(np.arange(3_000))
            count.add(np.arange(2_000, 4_000))
            if saves:
                count.save()
            found = count.estimate()
            errors.append((found.number - 4_000) / found.standard_error)
        assert abs(np.mean(errors)) < 5 / math.sqrt(40)
        assert 0.4 < np.std(errors) < 1.8

    def test_density(self) -> None:
        errors = []
        for _ in range(60):
            count = density(unlimited(), users=4_000, epsilon=2)
            count.add(np.arange(1_000))
            found = count.estimate()
            low, high = found.interval(0.95)
            assert low < found.number < high
            errors.append((found.number - 1_000) / found.standard_error)
        assert abs(np.mean(errors)) < 5 / math.sqrt(60)
        assert 0.4 < np.std(errors) < 1.8

    def test_heavy(self) -> None:
        errors = []
        for _ in range(40):
            count = heavy(unlimited(), users=6_000, items=ITEMS, epsilon=3)
            count.add(np.arange(4_000), np.array(["milk"] * 4_000))
            count.add(np.arange(1_000), np.array(["bread"] * 1_000))  # they changed their mind
            count.add(np.arange(5_000, 5_100), np.array(["pearls"] * 100))  # none of the items
            found = count.estimate()
            errors.append((found.numbers - [1_000, 3_000, 0]) / found.standard_errors)
        assert np.all(np.abs(np.mean(errors, axis=0)) < 5 / math.sqrt(40))
        assert np.all((np.std(errors, axis=0) > 0.4) & (np.std(errors, axis=0) < 1.8))
        assert list(found.heavy(2_000)) == ["milk"]
        assert found.intervals().shape == (3, 2)

    def test_too_many_units_are_said_to_be_too_many(self) -> None:
        count = distinct(unlimited(), expected=100, epsilon=8)
        count.add(np.arange(100_000))
        assert count.estimate().saturated

    def test_texts_are_units_by_their_canonical_spelling(self) -> None:
        count = distinct(unlimited(), expected=500, epsilon=20, ids="texts")
        for _ in range(3):
            count.add([f"é{number}" for number in range(400)] + [f"e\u0301{number}" for number in range(400)])
        count.add(np.array(["é0"]))
        count.add([])
        found = count.estimate()
        assert abs(found.number - 400) < 5 * found.standard_error < 400

    def test_ids_of_all_types_are_the_same_units(self) -> None:
        count = distinct(unlimited(), expected=1_000, epsilon=20)
        for kind in (np.int16, np.int32, np.int64, np.uint16, np.uint64):
            count.add(np.arange(900).astype(kind))
        found = count.estimate()
        assert abs(found.number - 900) < 5 * found.standard_error


class TestCharge:
    @pytest.mark.parametrize("neighbours", list(Neighbours))
    @pytest.mark.parametrize("views", [{}, {"saves": 1}, {"intrusions": 2, "releases": 3}])
    def test_what_is_charged_is_what_was_said(self, neighbours: Neighbours, views: Any, tmp_path: Path) -> None:
        account = in_memory(10, neighbours)
        count = density(account, users=3_000, epsilon=4, file=tmp_path / "state", **views)
        event, half = count.plan.event(), neighbours is not Neighbours.ADD_REMOVE
        assert Fraction(4 - Fraction(1, 10**6)) <= pure.total(event) * (2 if half else 1) <= 4
        assert account.account.spent_as()[0] == pytest.approx(4, rel=1e-6)
        assert account.account.spent_as()[0] <= 4

    def test_nothing_is_charged_for_what_is_refused(self, tmp_path: Path) -> None:
        account = in_memory(10)
        (tmp_path / "taken").write_text("")
        wrong: list[dict[str, Any]] = [
            {"epsilon": 0},
            {"epsilon": "nan"},
            {"users": 0},
            {"users": 2.0},
            {"saves": -1},
            {"saves": 1},
            {"saves": 1, "file": tmp_path / "taken"},
            {"saves": 1, "file": tmp_path / "no" / "folder"},
            {"saves": 9, "file": tmp_path / "new"},
            {"intrusions": 0},
            {"releases": 0},
            {"epsilon": 11},
        ]
        for each in wrong:
            with pytest.raises(SordinoError):
                density(account, **({"users": 1_000, "epsilon": 1} | each))
        with pytest.raises(ArgumentError, match="SRD-C612"):
            density(account, users=1_000, epsilon="0.001")
        for items in (["a"], ["a", "a"], "ab", [1, 2]):
            with pytest.raises(ArgumentError):
                heavy(account, users=1_000, items=items, epsilon=1)  # type: ignore[arg-type]
        for both in ({}, {"users": 10, "expected": 10}):
            with pytest.raises(ArgumentError, match="SRD-C611"):
                heavy(account, items=ITEMS, epsilon=1, **both)
        with pytest.raises(ArgumentError, match="SRD-A001"):
            distinct(so.budget(epsilon=1), expected=10, epsilon=1)  # type: ignore[arg-type]
        assert account.history == ()

    def test_releases_saves_and_intrusions_run_out(self, tmp_path: Path) -> None:
        count = density(in_memory(), users=500, epsilon=9, saves=1, intrusions=2, releases=2, file=tmp_path / "state")
        for use in (count.save, count.intruded, count.estimate, count.estimate):
            use()
        for use in (count.save, count.intruded, count.estimate):
            with pytest.raises(BudgetError, match="SRD-C615"):
                use()
        assert len(count.estimates) == 2

    def test_threads_share_what_was_declared(self) -> None:
        count, got = density(in_memory(), users=500, epsilon=9, releases=3), []

        def ask() -> None:
            try:
                got.append(count.estimate())
            except BudgetError:
                got.append(None)

        threads = [threading.Thread(target=ask) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(each is not None for each in got) == 3


class TestFiles:
    def test_goes_on_after_a_restart(self, tmp_path: Path) -> None:
        words: dict[str, Any] = {"users": 5_000, "epsilon": 8, "saves": 2, "releases": 2, "file": tmp_path / "state"}
        with house(tmp_path) as opened:
            count = density(kept(opened), **words)
            count.add(np.arange(2_000))
            count.save()
            known = count.id
        with house(tmp_path) as opened:
            again = density(kept(opened), resume=known, **words)
            again.add(np.arange(1_000, 3_000))
            found = again.estimate()
            assert abs(found.number - 3_000) < 5 * found.standard_error
            again.save()
            with pytest.raises(BudgetError, match="SRD-C615"):
                again.save()
            assert (tmp_path / "state").stat().st_mode & 0o777 == 0o600
            assert again.close().receipt is not None
            assert opened.verify().sound
            with pytest.raises(GrantError, match="SRD-C614"):
                again.add([1])
        assert not (tmp_path / "state").exists()

    def test_an_old_copy_is_told_and_counted(self, tmp_path: Path) -> None:
        words: dict[str, Any] = {"users": 500, "epsilon": 9, "saves": 2, "file": tmp_path / "state"}
        account = in_memory()
        count = density(account, **words)
        count.save()
        old = (tmp_path / "state").read_bytes()
        count.save()
        (tmp_path / "state").write_bytes(old)
        with pytest.raises(GrantError, match="version 1 of the state, and 2 were saved"):
            density(account, resume=count.id, **words)
        again = density(account, resume=count.id, older=True, **words)
        with pytest.raises(BudgetError, match="SRD-C615"):  # the versions that were written stay written
            again.save()

    def test_a_state_is_never_the_same_twice(self, tmp_path: Path) -> None:
        """Randomised before and after a save: what is kept is neither the memory before nor the memory after."""
        words: dict[str, Any] = {"users": 5_000, "epsilon": 3, "saves": 1, "file": tmp_path / "state"}
        account = in_memory()
        count = density(account, **words)
        before = state(count).copy()
        count.save()
        packed = np.frombuffer((tmp_path / "state").read_bytes().split(b"\n", 1)[1], dtype=np.uint8)
        saved = np.unpackbits(packed, count=5_000)
        resumed = [state(density(account, resume=count.id, **words)).copy() for _ in range(2)]
        lost = 1 - count.plan.coins.keep / ONE
        for one, other in ((before, saved), (saved, state(count)), (saved, resumed[0]), (resumed[0], resumed[1])):
            assert np.mean(one != other) > 0.8 * lost / 2 > 0

    def test_two_processes_do_not_count_apart(self, tmp_path: Path) -> None:
        words: dict[str, Any] = {"users": 500, "epsilon": 9, "saves": 1, "releases": 2, "file": tmp_path / "state"}
        account = in_memory()
        count = density(account, **words)
        count.save()
        other = density(account, resume=count.id, **words)
        other.estimate()
        for use in (count.estimate, lambda: count.add([1])):
            with pytest.raises(GrantError, match="another process goes on"):
                use()

    @pytest.mark.parametrize("harm", ["cut", "changed", "gone", "foreign", "empty"])
    def test_a_harmed_file_is_refused(self, harm: str, tmp_path: Path) -> None:
        words: dict[str, Any] = {"users": 500, "epsilon": 9, "saves": 1, "file": tmp_path / "state"}
        account = in_memory()
        count = density(account, **words)
        count.save()
        body = (tmp_path / "state").read_bytes()
        if harm == "foreign":
            other = density(in_memory(), **(words | {"users": 501, "file": tmp_path / "other"}))
            other.save()
        found = {
            "cut": body[:-9],
            "changed": body[:-1] + bytes([body[-1] ^ 1]),
            "gone": None,
            "foreign": (tmp_path / "other").read_bytes() if harm == "foreign" else None,
            "empty": b"",
        }[harm]
        (tmp_path / "state").unlink()
        if found is not None:
            (tmp_path / "state").write_bytes(found)
        with pytest.raises(GrantError, match="SRD-C614"):
            density(account, resume=count.id, **words)

    def test_what_was_never_saved_is_lost(self, tmp_path: Path) -> None:
        words: dict[str, Any] = {"users": 500, "epsilon": 9, "saves": 1, "file": tmp_path / "state"}
        account = in_memory()
        count = density(account, **words)
        with pytest.raises(GrantError, match="never saved"):
            density(account, resume=count.id, **words)

    def test_a_save_that_fails_is_counted_and_randomised(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        count = density(in_memory(), users=5_000, epsilon=9, saves=1, file=tmp_path / "folder" / "state")
        (tmp_path / "folder").rmdir()
        with pytest.raises(RunError, match="SRD-C613"):
            count.save()
        assert count._cells.randomised == 2
        with pytest.raises(BudgetError, match="SRD-C615"):
            count.save()


class TestSilence:
    def test_a_canary_is_in_no_file(self, tmp_path: Path) -> None:
        with house(tmp_path) as opened:
            count = heavy(
                kept(opened), items=ITEMS, expected=50, ids="texts", epsilon=9, saves=1, file=tmp_path / "state"
            )
            count.add([CANARY] * 20, np.array(["salt"] * 20))
            count.save()
            count.estimate()
            files = [each for each in tmp_path.rglob("*") if each.is_file()]
            assert len(files) >= 2
            for spelling in ("utf-8", "utf-16-le", "utf-32-le"):
                assert not any(CANARY.encode(spelling) in each.read_bytes() for each in files)
            assert CANARY not in repr(count) + repr(count._cells) + repr(count.plan)

    HOSTILE: tuple[Any, ...] = (
        [CANARY],
        np.array([CANARY]),
        [1.5],
        [math.nan],
        [None],
        [[1]],
        "text",
        object(),
        [True],
        np.array([CANARY], dtype=object),
    )

    @pytest.mark.parametrize("given", HOSTILE, ids=lambda given: type(given).__name__)
    def test_what_is_no_id_is_refused_without_being_shown(self, given: Any) -> None:
        count = density(unlimited(), users=50, epsilon=9)
        before = state(count).copy()
        with pytest.raises(ArgumentError) as raised:
            count.add(given)
        assert CANARY not in str(raised.value)
        assert np.array_equal(before, state(count))

    def test_odd_texts_are_ids_and_odd_lists_are_not(self) -> None:
        count = distinct(unlimited(), expected=50, epsilon=9, ids="texts")
        count.add(["", "\x00", "a" * 10_000, "\ud800", "🙂"])
        for given in ([1], [[CANARY]], [CANARY, None], [b"bytes"]):
            with pytest.raises(ArgumentError) as raised:
                count.add(given)
            assert CANARY not in str(raised.value)
        with pytest.raises(ArgumentError, match="SRD-C611"):
            count.add(["a"], np.array(["b"]))

    def test_numbers_that_have_no_cell_count_nowhere(self) -> None:
        count = density(unlimited(), users=50, epsilon=9)
        before = state(count).copy()
        count.add([-1, 50, 2**63 - 1, -(2**63)])
        count.add(np.array([2**64 - 1], dtype=np.uint64))
        assert np.array_equal(before, state(count))

    @pytest.mark.parametrize("items", [None, ["salt"], np.array([1, 2]), np.array([["salt"]])])
    def test_items_must_fit(self, items: Any) -> None:
        count = heavy(unlimited(), users=50, items=ITEMS, epsilon=9)
        with pytest.raises(ArgumentError):
            count.add([1, 2], items)

    def test_is_not_copied(self) -> None:
        count = density(unlimited(), users=50, epsilon=9)
        for copying in (copy.copy, copy.deepcopy, pickle.dumps):
            for each in (count, count._cells):
                with pytest.raises(GrantError):
                    copying(each)


def test_neighbours_look_alike(tmp_path: Path) -> None:
    """With one user and without: prices, sizes of files, numbers of entries and shapes of records are the same."""
    seen = []
    for name, ids in (("with", np.arange(300)), ("without", np.delete(np.arange(300), 7))):
        (tmp_path / name).mkdir()
        with house(tmp_path / name) as opened:
            account = kept(opened)
            count = density(account, users=300, epsilon=9, saves=1, file=tmp_path / name / "state")
            count.add(np.repeat(ids, 2))
            count.save()
            count.estimate()
            body = (tmp_path / name / "state").read_bytes()
            said = [{**each, "mark": 0, "counts": 0} for each in count._said]
            seen.append((account.account.spent, len(body.split(b"\n", 1)[1]), said, len(list(opened.ledger.entries()))))
    assert seen[0] == seen[1]


class TestAudit:
    """States taken at moments that the auditor chooses, and the output, held against the claim."""

    EPSILON = Fraction(1)

    def observed(self, came: list[bool], draws: int, noise: bool = True) -> list[tuple[int, ...]]:
        """One unit, alone in its cell: the state before a save, the file, the state after it; `draws` such cells."""
        coins = Coins.for_epsilon(self.EPSILON, 1, 3, 2)
        cells = Cells.fresh(coins if noise else Coins(1, 3, ONE, ONE), draws)
        if not noise:
            cells.values[:] = 0
        seen = []
        for period, comes in enumerate(came):
            if period:
                cells.randomise()
            if comes:
                cells.put(np.arange(draws), 1)
            seen.append(cells.values.copy())
        return list(zip(*(each.tolist() for each in seen), strict=True))

    PAIRS = (
        ([True, False, True], [False, False, False]),
        ([True, True, True], [False, False, False]),
        ([False, True, False], [False, False, False]),
    )

    def test_states_do_not_tell_more_than_the_claim(self) -> None:
        found = measure(self.observed, 1, pairs=self.PAIRS, draws=12_000)
        assert not found.refuted, str(found)
        assert 0.2 < found.epsilon <= 1

    def test_a_state_without_noise_is_caught(self) -> None:
        found = measure(lambda came, draws: self.observed(came, draws, noise=False), 1, pairs=self.PAIRS, draws=4_000)
        assert found.refuted

    def test_the_whole_count_keeps_its_claim(self) -> None:
        """Through the front door: one unit's cell, and the estimate beside it."""

        def run(came: bool, draws: int) -> list[tuple[int, int]]:
            found = []
            for _ in range(draws):
                count = density(account, users=60, epsilon=1)
                count.add([3, 3] if came else [])
                cell = int(state(count)[3])
                count.estimate()
                found.append((cell, int(count._said[-1]["counts"][0] > 30)))
            return found

        account = unlimited()
        found = measure(run, 1, pairs=((True, False),), draws=500)
        assert not found.refuted, str(found)
