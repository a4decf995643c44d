"""Alerts: the law of comparisons, what is charged, when they stop, restarts, copies, hostile values and silence."""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import shutil
import threading
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sordino as so
from audit.specimens import SPARSE_VECTOR
from collect.visits import Visits, house, in_memory, kept, unlimited
from laws import references as reference
from sordino.accounting import pure
from sordino.accounting.events import SparseVector
from sordino.accounting.neighbours import Neighbours
from sordino.audit import measure
from sordino.collect.alert_plan import alert_plan
from sordino.collect.alerting import Alarm, AlertWatch, alert, open_alert
from sordino.collect.metrics import metric_counts
from sordino.errors import ArgumentError, BudgetError, GrantError, SordinoError
from sordino.mechanisms.checks.draws import CHANCE, fit

SMALL: dict[str, Any] = {"metrics": 3, "steps": 4, "threshold": 10, "positives": 2}
KEPT_IN = "threshold.secret"


def opened(folder: Path, account: Any = None, epsilon: Any = 1, resume: str | None = None, **words: Any) -> AlertWatch:
    account = account or in_memory()
    return open_alert(account, alert(**(SMALL | words)), epsilon=epsilon, folder=folder, resume=resume)


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files need not last where nothing is crashed and thousands of alerts are opened."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


class TestLaw:
    @pytest.mark.usefixtures("unsynced")
    def test_comparisons_have_the_law_that_is_charged(self, tmp_path: Path) -> None:
        """Two steps of three metrics are six comparisons with one threshold: accepted, and not at 0.7 or 1.3 of it."""
        answers, seen, account = [1, 22, 0, 19, 2, 23], Counter(), unlimited()
        plan = alert_plan(account.protected, alert(**(SMALL | {"steps": 2, "repeat": True})), 1)
        for _ in range(1_000):
            with opened(tmp_path / "alert", account, steps=2, repeat=True) as watch:
                said: list[bool] = []
                for values in (answers[:3], answers[3:]):
                    if watch.positives_left:
                        watch.step(values)
                        part = json.loads(watch._work.recorded(watch.steps + 1) or b"")
                        said += [metric in part["alarms"] for metric in range(part["compared"])]
                seen[tuple(said)] += 1
        one, other = float(plan.comparison.scale_threshold), float(plan.comparison.scale_queries)
        for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
            law = reference.above_threshold(answers, 10, one * factor, other * factor, 2)
            assert (fit(seen, law) > CHANCE) == right, factor

    def test_one_threshold_for_all_steps_and_restarts(self, tmp_path: Path) -> None:
        account = in_memory()
        watch = opened(tmp_path, account)
        before = (tmp_path / KEPT_IN).read_bytes()
        for _ in range(3):
            watch = opened(tmp_path, account, resume=watch.id)
            watch.step([0, 0, 0])
        assert (tmp_path / KEPT_IN).read_bytes() == before
        assert watch.steps == 3


class TestCharge:
    @pytest.mark.parametrize("neighbours", list(Neighbours))
    @pytest.mark.parametrize("sensitivity", [1, 7, "2.5"])
    def test_all_positives_when_it_opens(self, tmp_path: Path, neighbours: Neighbours, sensitivity: Any) -> None:
        account = in_memory(10, neighbours)
        words: dict[str, Any] = {"sensitivity": sensitivity, "whole_values": sensitivity != "2.5"}
        watch = opened(tmp_path, account, epsilon=2, **words)
        event = watch.plan.event()
        assert isinstance(event, SparseVector)
        assert event.positives == 2
        assert pure.total(event) == 2
        assert account.account.spent_as()[0] == 2
        watch.step([100, 100, 100])
        watch.close()
        assert account.account.spent_as()[0] == 2  # nothing moves with what was found

    def test_armed_again_is_another_charge(self, tmp_path: Path) -> None:
        account = in_memory(2)
        for number in (1, 2):
            with opened(tmp_path, account) as watch:
                watch.step([500, 500, 0])
                with pytest.raises(BudgetError, match=r"all the alarms .*SRD-C602"):
                    watch.step([0, 0, 0])
            assert account.account.spent_as()[0] == number
        with pytest.raises(BudgetError, match="SRD-B001"):
            opened(tmp_path, account)
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_charged_for_what_is_refused(self, tmp_path: Path) -> None:
        account = in_memory(10)
        (tmp_path / "file").write_text("")
        for words in (
            {"metrics": 0},
            {"metrics": 1.0},
            {"steps": 0},
            {"positives": 0},
            {"positives": True},
            {"threshold": math.nan},
            {"threshold": "1e400"},
            {"sensitivity": 0},
            {"sensitivity": "0.5"},
            {"whole_values": 1},
            {"repeat": "yes"},
            {"epsilon": 0},
            {"epsilon": math.inf},
            {"epsilon": 11},
            {"folder": tmp_path / "file" / "alert"},
        ):
            given = {"folder": tmp_path / "alert"} | words
            with pytest.raises(SordinoError):
                opened(account=account, **given)
        with pytest.raises(ArgumentError, match="SRD-A001"):
            open_alert(account, "alert", epsilon=1, folder=tmp_path / "alert")  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="SRD-A001"):
            open_alert(so.budget(epsilon=1), alert(**SMALL), epsilon=1, folder=tmp_path)  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="replace-one"):
            opened(tmp_path / "alert", in_memory(10, Neighbours.REPLACE_ONE), monotone=True)
        assert account.history == ()

    def test_a_folder_holds_one_alert(self, tmp_path: Path) -> None:
        account = in_memory()
        opened(tmp_path, account)
        with pytest.raises(ArgumentError, match="SRD-C603"):
            opened(tmp_path, account)
        assert account.account.spent_as()[0] == 1

    def test_plans_that_watch_different_things_differ(self) -> None:
        words = ({}, {"metrics": 4}, {"steps": 5}, {"threshold": 9}, {"positives": 3}, {"repeat": True})
        plans = [alert_plan(Visits(), alert(**(SMALL | each)), 1) for each in words]
        assert len({plan.digest() for plan in plans}) == len(plans)


class TestSteps:
    def test_stops_with_the_last_alarm(self, tmp_path: Path) -> None:
        watch = opened(tmp_path, epsilon=50, metrics=5, positives=2)
        assert watch.step([0, 0, 0, 0, 99]) == [Alarm(1, 4)]
        assert watch.step([99, 0, 99, 99, 99]) == [Alarm(2, 0)]
        assert json.loads(watch._work.recorded(3) or b"")["compared"] == 1
        assert watch.positives_left == 0
        with pytest.raises(BudgetError, match="SRD-C602"):
            watch.step([0] * 5)
        assert watch.step([0] * 5, number=2) == [Alarm(2, 0)]

    @pytest.mark.parametrize("repeat", [False, True])
    def test_a_metric_raises_one_alarm_unless_it_repeats(self, tmp_path: Path, repeat: bool) -> None:
        watch = opened(tmp_path, epsilon=50, positives=3, repeat=repeat)
        assert watch.step([0, 99, 0]) == [Alarm(1, 1)]
        assert watch.step([0, 99, 0]) == ([Alarm(2, 1)] if repeat else [])

    def test_ends_with_the_steps_declared(self, tmp_path: Path) -> None:
        watch = opened(tmp_path, steps=2)
        for _ in range(2):
            watch.step([-99, -99, -99])
        with pytest.raises(BudgetError, match=r"all the steps .*SRD-C602"):
            watch.step([-99, -99, -99])

    def test_the_same_step_again_gives_the_same_alarms(self, tmp_path: Path) -> None:
        watch = opened(tmp_path, epsilon=50)
        first = watch.step([0, 99, 0], number=1)
        assert watch.step([99, 0, 99], number=1) == first == [Alarm(1, 1)]
        assert watch.steps == 1
        for wrong in (0, 3, -1, 1.0, True):
            with pytest.raises(ArgumentError):
                watch.step([0, 0, 0], number=wrong)

    def test_threads_share_the_alarms(self, tmp_path: Path) -> None:
        watch, got = opened(tmp_path, epsilon=50, steps=100, positives=5, repeat=True), []

        def ask() -> None:
            for _ in range(5):
                try:
                    got.extend(watch.step([99, 0, 0]))
                except BudgetError:
                    return

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(got) == [Alarm(step, 0) for step in range(1, 6)]


class TestRestarts:
    def test_goes_on_in_another_process(self, tmp_path: Path) -> None:
        with house(tmp_path) as place:
            watch = opened(tmp_path / "alert", kept(place), epsilon=5)
            watch.step([999, 0, 0])
            known = watch.id
        with house(tmp_path) as place:
            account = kept(place)
            again = opened(tmp_path / "alert", account, epsilon=5, resume=known)
            assert (again.steps, again.alarms, again.positives_left) == (1, (Alarm(1, 0),), 1)
            assert again.step([999, 999, 999]) == [Alarm(2, 1)]
            assert again.close().receipt is not None
            assert account.account.spent_as()[0] == 5
            assert place.verify().sound
            with pytest.raises(SordinoError):
                opened(tmp_path / "alert", account, epsilon=5, resume=known)
        assert not (tmp_path / "alert" / KEPT_IN).exists()

    @pytest.mark.parametrize("harm", ["gone", "cut", "foreign", "another", "open to others", "a text"])
    def test_no_second_threshold(self, tmp_path: Path, harm: str) -> None:
        account = in_memory()
        watch = opened(tmp_path / "alert", account, threshold=271_828_182)
        watch.step([0, 0, 0])
        file = tmp_path / "alert" / KEPT_IN
        whole = json.loads(file.read_text())
        if harm == "gone":
            file.unlink()
        elif harm == "cut":
            file.write_text(file.read_text()[:-9])
        elif harm == "foreign":
            opened(tmp_path / "other", account, metrics=4)
            shutil.copy(tmp_path / "other" / KEPT_IN, file)
        elif harm == "another":
            file.write_text(json.dumps(whole | {"mark": "0" * 32, "threshold": 3}))
        elif harm == "open to others":
            file.chmod(0o640)
        else:
            file.write_text(json.dumps(whole | {"threshold": "10"}))
        listed = sorted(each.name for each in (tmp_path / "alert").iterdir())
        with pytest.raises(GrantError, match="SRD-C604") as raised:
            opened(tmp_path / "alert", account, threshold=271_828_182, resume=watch.id)
        assert str(whole["threshold"]) not in str(raised.value)
        assert sorted(each.name for each in (tmp_path / "alert").iterdir()) == listed  # none was drawn

    def test_a_copy_of_the_folder_gets_the_same_answers(self, tmp_path: Path) -> None:
        """The ledger is the one that numbers steps: a copy that is run elsewhere can neither redo nor exceed them."""
        account = in_memory()
        first = opened(tmp_path / "first", account, epsilon=50, steps=10)
        shutil.copytree(tmp_path / "first", tmp_path / "second")
        second = opened(tmp_path / "second", account, epsilon=50, steps=10, resume=first.id)
        assert first.step([99, 0, 0]) == [Alarm(1, 0)]
        assert second.step([0, 99, 99]) == [Alarm(1, 0)]
        assert second.step([0, 99, 99]) == [Alarm(2, 1)]
        assert first.step([0, 0, 99]) == [Alarm(2, 1)]
        for watch in (first, second):
            with pytest.raises(BudgetError, match="SRD-C602"):
                watch.step([0, 0, 99])

    def test_a_file_of_a_racing_process_is_not_used(self, tmp_path: Path) -> None:
        """Two processes go on with a work that was never armed, each in a folder of its own: one threshold wins."""
        account = in_memory()
        work = account.begin(alert_plan(account.protected, alert(**SMALL), 1))
        opened(tmp_path / "first", account, resume=work.id)
        with pytest.raises(GrantError, match="SRD-C604"):
            opened(tmp_path / "second", account, resume=work.id)

    def test_a_step_that_was_not_recorded_left_nowhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        watch = opened(tmp_path, epsilon=50)

        def full(*_: object) -> bytes:
            raise OSError("disk full")

        for values in ([0, 0, 0], [99, 99, 99]):  # it fails alike, alarm or none
            with monkeypatch.context() as patched:
                patched.setattr(watch._work, "part", full)
                with pytest.raises(OSError, match="disk full"):
                    watch.step(values)
            assert (watch.steps, watch.alarms) == (0, ())


class TestSilence:
    def test_the_threshold_is_in_its_file_alone(self, tmp_path: Path) -> None:
        with house(tmp_path) as place:
            watch = opened(tmp_path / "alert", kept(place), epsilon=5, threshold=271_828_182_845)
            secret = str(json.loads((tmp_path / "alert" / KEPT_IN).read_text())["threshold"])
            assert (tmp_path / "alert" / KEPT_IN).stat().st_mode & 0o777 == 0o600
            assert (tmp_path / "alert").stat().st_mode & 0o777 == 0o700
            watch.step([314_159_265_358, 0, 1])
            found = [each for each in tmp_path.rglob("*") if each.is_file() and each.name != KEPT_IN]
            assert found
            for value in (secret, "314159265358"):
                assert not any(value.encode() in each.read_bytes() for each in found)
                assert value not in repr(watch) + repr(watch._secret) + repr(watch.plan) or value == "271828182845"
            for copying in (copy.copy, copy.deepcopy, pickle.dumps):
                for each in (watch, watch._secret):
                    with pytest.raises(GrantError):
                        copying(each)

    @pytest.mark.parametrize(
        "given", [[1, 2], [1, 2, 3, 4], [[1, 2, 3]], 7, "canary", ["canary"] * 3, [None] * 3, [0.5] * 3]
    )
    def test_what_is_no_step_is_refused_without_being_shown(self, tmp_path: Path, given: Any) -> None:
        watch = opened(tmp_path)
        with pytest.raises(ArgumentError) as raised:
            watch.step(given)
        assert "canary" not in str(raised.value)
        assert watch.steps == 0

    def test_no_number_is_refused(self, tmp_path: Path) -> None:
        watch = opened(tmp_path, epsilon=50, whole_values=False, positives=3, steps=9)
        assert watch.step([math.nan, -math.inf, 5e-324]) == []
        assert watch.step([math.inf, 1e308, -0.0]) == [Alarm(2, 0), Alarm(2, 1)]
        whole = opened(tmp_path / "whole", epsilon=50)
        assert whole.step([2**63, -(2**63), 10**40]) == [Alarm(1, 0), Alarm(1, 2)]

    def test_neighbours_look_alike(self, tmp_path: Path) -> None:
        """With one user and without: prices, entries and all but the alarms are the same."""
        seen = []
        for name, values in (("with", [11, 10, 9]), ("without", [10, 9, 8])):
            (tmp_path / name).mkdir()
            with house(tmp_path / name) as place:
                account = kept(place)
                watch = opened(tmp_path / name / "alert", account, epsilon=5, positives=12)
                for _ in range(4):
                    watch.step(values)
                entries = [type(each).__name__ for each in place.ledger.entries()]
                seen.append((account.account.spent, entries, sorted(p.name for p in (tmp_path / name).iterdir())))
        assert seen[0] == seen[1]


class TestBar:
    def runs(self, count: int, folder: Path) -> list[bool]:
        """Whether exactly the shifts beyond the error were found, of 2,000 metrics over 50 steps, in each run."""
        account, good = unlimited(), []
        dice = np.random.default_rng(7)
        words: dict[str, Any] = {"metrics": 2_000, "steps": 50, "threshold": 500, "positives": 3}
        for _ in range(count):
            with opened(folder, account, epsilon=1, **words) as watch:
                far = math.ceil(watch.error(0.95))
                shifts = {
                    Alarm(int(step), int(metric))
                    for step, metric in zip((9, 30, 47), dice.choice(2_000, 3), strict=True)
                }
                for step in range(1, 51):
                    values = dice.integers(0, 500 - far, 2_000)
                    for shift in shifts:
                        values[shift.metric] = 500 + far if shift.step == step else values[shift.metric]
                    if watch.positives_left:
                        watch.step(values)
                good.append(set(watch.alarms) == shifts)
        return good

    @pytest.mark.usefixtures("unsynced")
    def test_shifts_are_found_and_nothing_else(self, tmp_path: Path) -> None:
        good = self.runs(100, tmp_path / "alert")
        assert sum(good) >= 95, sum(good)

    def test_shifts_within_the_noise_are_not_always_found(self, tmp_path: Path) -> None:
        """The bar can fail: at a tenth of the ε, with the shifts of the whole, alarms are wrong."""
        far = math.ceil(alert_plan(Visits(), alert(**(SMALL | {"metrics": 2_000, "steps": 50})), 1).error())
        wrong = 0
        for _ in range(20):
            with opened(tmp_path / "alert", unlimited(), epsilon="0.1", metrics=2_000, steps=1) as watch:
                values = np.full(2_000, 10 - far)
                values[3] = 10 + far
                wrong += watch.step(values) != [Alarm(1, 3)]
        assert wrong > 10


class TestAudit:
    PAIRS = (([4] * 4 + [0] * 4, [0] * 4 + [4] * 4),)

    def whole(self, folder: Path) -> Any:
        account = unlimited()

        def release(values: list[int], draws: int) -> list[tuple[Alarm, ...]]:
            found = []
            for _ in range(draws):
                with opened(
                    folder, account, epsilon=1, metrics=2, steps=4, threshold=0, positives=4, sensitivity=4, repeat=True
                ) as watch:
                    for step in range(4):
                        if watch.positives_left:
                            watch.step(values[2 * step : 2 * step + 2])
                    found.append(watch.alarms)
            return found

        return release

    @pytest.mark.usefixtures("unsynced")
    def test_an_alert_keeps_its_claim(self, tmp_path: Path) -> None:
        found = measure(self.whole(tmp_path / "alert"), 1, pairs=self.PAIRS, draws=400)
        assert not found.refuted, str(found)

    def test_the_variant_in_circulation_is_caught(self) -> None:
        assert measure(SPARSE_VECTOR.subject, draws=SPARSE_VECTOR.draws, seed=3).refuted


class TestMetrics:
    def test_one_unit_moves_a_count_by_no_more_than_declared(self) -> None:
        dice = np.random.default_rng(1)
        rows, units = dice.integers(-1, 6, 3_000), dice.integers(0, 40, 3_000)
        for most in (1, 3):
            whole = metric_counts(rows, units, metrics=5, most=most)
            by_hand = [
                sum(min(int(np.sum((rows == metric) & (units == unit))), most) for unit in range(40))
                for metric in range(5)
            ]
            assert whole.tolist() == by_hand
            for unit in range(40):
                rest = metric_counts(rows[units != unit], units[units != unit], metrics=5, most=most)
                assert np.all((whole - rest >= 0) & (whole - rest <= most))
            order = dice.permutation(3_000)
            assert np.array_equal(whole, metric_counts(rows[order], units[order], metrics=5, most=most))

    def test_edges(self) -> None:
        assert metric_counts([], [], metrics=2).tolist() == [0, 0]
        assert metric_counts([9, -1], [1, 1], metrics=2).tolist() == [0, 0]
        assert metric_counts(np.array([1], dtype=np.uint64), ["a"], metrics=2).tolist() == [0, 1]
        for rows, units in (([0], [1, 2]), ([0.5], [1]), ([[0]], [[1]]), ([0], [None]), ([0], [1.5]), ([0], [[1]])):
            with pytest.raises(ArgumentError):
                metric_counts(rows, units, metrics=2)


def test_an_alert_is_as_exact_as_its_parts() -> None:
    plan = alert_plan(Visits(), alert(**SMALL), "0.3")
    event = plan.event()
    assert isinstance(event, SparseVector)
    assert event.epsilon_threshold + event.epsilon_queries == Fraction(3, 10)
