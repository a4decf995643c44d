"""A round from its charge to its estimate, in memory and in a ledger."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from collect.surveys import SHUFFLED, TWO, bodies, files_of, pets
from sordino.accounting.account import Account, unlimited
from sordino.accounting.budget import Budget
from sordino.collect.device import Device
from sordino.collect.plan import RoundPlan, counts_digest
from sordino.collect.round import open_round
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, BudgetError, RunError
from sordino.ledger.entries import Reserved
from sordino.ledger.scope import Scope


def test_the_way_of_a_survey(tmp_path):
    poll = pets(per_day=1, days=30)
    with so.open(tmp_path / "budget.db") as house:
        running = house.collect(poll)
        (charge,) = (entry for entry in house.ledger.entries() if isinstance(entry, Reserved))
        assert charge.plan == RoundPlan(poll).digest()
        assert house.account(poll).budget == Budget(epsilon=Fraction(60))
        assert house.account(poll).account.used == 1
        reports = [Device(tmp_path / f"{each}.json").report(poll, "cat") for each in range(5)]
        assert running.take(reports).taken == 5
        closed = running.close()
        assert closed.reports == 5
        assert closed.counts.sum() == 5
        assert closed.estimate().intervals().shape == (3, 2)
        assert counts_digest(closed.counts) in house.ledger.release(running.id).decode()
        assert closed.receipt.to_json()
        assert running.close() is closed
        size = house.ledger.size
        again = house.collected(poll)
        assert np.array_equal(again.counts, closed.counts)
        assert again.estimate().reports == 5
        assert house.ledger.size == size  # to estimate again is free
        assert house.verify().sound


def test_a_round_goes_on_after_a_restart_under_its_charge(tmp_path):
    poll, rows = pets(), None
    for part in range(3):
        with so.open(tmp_path / "budget.db") as house:
            running = house.collect(poll)
            rows = bodies(poll, np.arange(100) % 3)
            assert running.take([*map(bytes, rows), bytes(rows[0])]).taken == 101
            assert running.estimate().reports == 100 * (part + 1)
            running.leave()
            assert sum(isinstance(entry, Reserved) for entry in house.ledger.entries()) == 1
    with so.open(tmp_path / "budget.db") as house:
        assert house.collect(poll).close().reports == 300
        with pytest.raises(ArgumentError, match=r"round=2.*SRD-C705"):
            house.collect(poll)
        with pytest.raises(BudgetError, match="SRD-B001"):
            house.collect(pets(round=2))
        house.raise_budget("pets", Budget(epsilon=4), reason="another round")
        assert house.collect(pets(round=2)).close().reports == 0  # empty rounds stay charged
        assert house.account(poll).account.used == 1


def test_a_close_that_was_interrupted_is_gone_on_with(tmp_path, monkeypatch):
    poll = pets()
    with so.open(tmp_path / "budget.db") as house:
        running = house.collect(poll)
        running.take(list(map(bytes, bodies(poll, np.zeros(50)))))
        monkeypatch.setattr(running._work, "finish", lambda _: (_ for _ in ()).throw(RunError("killed", "SRD-R001")))
        with pytest.raises(RunError):
            running.close()
    with so.open(tmp_path / "budget.db") as house:
        running = house.collect(poll)
        with pytest.raises(ArgumentError, match="SRD-C705"):
            running.take([bytes(bodies(poll, np.zeros(1))[0])])
        assert running.close().reports == 50
        assert house.collected(poll).receipt is not None


def test_counts_that_are_not_those_that_were_settled_are_refused(tmp_path):
    poll = pets()
    with so.open(tmp_path / "budget.db") as house:
        running = house.collect(poll)
        running.take(list(map(bytes, bodies(poll, np.zeros(50)))))
        path = running.close().path
        import pyarrow.parquet as pq

        pq.write_table(pq.read_table(path).slice(1), path)
        with pytest.raises(RunError, match="SRD-C711"):
            house.collected(poll)


def test_a_group_is_charged_as_well(tmp_path):
    from sordino.accounting.neighbours import Neighbours
    from sordino.ledger.rule import Rule

    poll = pets(group="citizens", unit="citizen")
    with so.open(tmp_path / "budget.db") as house:
        rule = Rule.open(Budget(epsilon=3), unit="citizen", neighbours=Neighbours.REPLACE_ONE)
        house.ledger.open_scope(Scope("group", "citizens"), rule, by="owner")
        house.collect(poll).close()
        with pytest.raises(BudgetError):
            house.collect(pets(group="citizens", unit="citizen", round=2), Budget(epsilon=2))


def test_tables_and_surveys_about_the_same_people_share_one_budget(tmp_path):
    """A table of add/remove and a survey of replace-one: a count at ε = ½ moves by 2 in the group, so it costs 1."""
    rides = so.dataset("rides", pa.table({"rider": [1, 1, 2]}), unit="rider", limits=so.limits(rows=1))
    poll = pets(group="riders", unit="rider", epsilon=2)
    with so.open(tmp_path / "budget.db") as house:
        house.open_group("riders", Budget(epsilon=3), unit="rider")
        asked = house.account(rides, Budget(epsilon=9), groups=("riders",)).sql("SELECT COUNT(*) AS n FROM rides")
        asked.run(epsilon="0.5")
        house.collect(poll)
        with pytest.raises(BudgetError):  # 1 + 2 are all that the group holds, whatever the table's own budget has left
            asked.run(epsilon="0.001")
    with so.open(tmp_path / "budget.db") as house:
        assert house.collect(poll).id  # a restart goes on under the same charge
        with pytest.raises(BudgetError):
            house.collect(pets(group="riders", unit="rider", round=2), Budget(epsilon=2))
        assert house.verify().sound


def test_it_is_charged_before_a_report_is_accepted(tmp_path):
    poll = pets(epsilon=2)
    with so.open(tmp_path / "budget.db") as house:
        with pytest.raises(BudgetError):
            house.collect(poll, Budget(epsilon=1))
        assert not list(tmp_path.rglob("*.segment"))


def test_rounds_in_memory():
    poll = pets()
    account = Account(Budget(epsilon=2))
    running = open_round(poll, budget=DataAccount(poll, account))
    assert account.used == 1
    running.take(list(map(bytes, bodies(poll, np.zeros(10)))))
    again = open_round(poll, budget=DataAccount(poll, account), resume=running.id)
    assert again.id == running.id
    closed = running.close()
    assert (closed.reports, closed.path) == (10, None)
    with pytest.raises(ArgumentError, match="SRD-A001"):
        open_round(poll, budget=account)
    with pytest.raises(BudgetError):
        open_round(poll, budget=DataAccount(poll, account))


def test_a_shuffled_batch_comes_whole_and_is_shown_once():
    poll = pets(trust="shuffled", batch=1000, delta="1e-6", epsilon=1)
    running = open_round(poll, budget=DataAccount(poll, unlimited("a test")))
    rows = list(map(bytes, bodies(poll, np.arange(1000) % 3)))
    for refusal in (
        lambda: running.take(rows),
        running.estimate,
        lambda: running.take_shuffled(rows[1:]),
        lambda: running.take_shuffled([*rows[1:], rows[1], b"x"]),
    ):
        with pytest.raises(ArgumentError, match="SRD-C713"):
            refusal()
    closed = running.take_shuffled(rows)
    assert closed.reports == 1000


def test_a_batch_that_a_shuffler_is_paid_for_comes_from_nobody_else():
    poll = pets(**SHUFFLED)
    running = open_round(poll, budget=DataAccount(poll, unlimited("a test")))
    with pytest.raises(ArgumentError, match=r"its shuffler mixed.*SRD-C713"):
        running.take_shuffled(list(map(bytes, bodies(poll, np.arange(1000) % 3))))


def test_two_servers_are_two_houses(tmp_path):
    poll = pets(trust="two-servers", parties=TWO)
    with so.open(tmp_path / "budget.db") as house:
        with pytest.raises(ArgumentError, match="SRD-C713"):
            house.collect(poll)
        assert house.ledger.size == 0
    with pytest.raises(ArgumentError, match="SRD-C713"):
        open_round(poll, budget=DataAccount(poll, unlimited("a test")))


def test_estimates_are_unbiased_and_their_intervals_cover():
    """Of 400 rounds of 500 devices each about 95 % of intervals cover the truth: within 93 to 97 at 5 σ of 1,200."""
    poll, truth, covered, total = pets(epsilon=1), np.array([250, 150, 100]), 0, np.zeros(3)
    codes = np.repeat(np.arange(3), truth)
    for _ in range(400):
        counts = poll.randomizer.count(bodies(poll, codes)[:, 49:])
        found = poll.randomizer.estimate(counts, 500)
        low, high = found.intervals(0.95).T
        covered += int(((low <= truth) & (truth <= high)).sum())
        total += found.values / 400
    assert 0.92 <= covered / 1200 <= 0.98
    assert np.abs(total - truth).max() < 5 * np.sqrt(poll.randomizer.variance(500, 250) / 400)


def test_nothing_of_time_order_or_origin_is_kept(tmp_path):
    poll = pets()
    with so.open(tmp_path / "budget.db") as house:
        running = house.collect(poll)
        rows = bodies(poll, np.arange(2000) % 3)
        for start in range(0, 2000, 100):
            running.take(list(map(bytes, rows[start : start + 100])))
        path = running.close().path
    folder = path.parent
    assert sorted(each.name for each in folder.iterdir()) == ["charge", "closed", "lock", "reports.parquet"]
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    assert table.column_names == ["id", "payload"]
    ids = table["id"].to_pylist()
    assert ids == sorted(ids) == sorted(map(bytes, rows[:, 33:49]))
    assert b"127.0.0.1" not in files_of(folder)
