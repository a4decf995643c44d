"""Asked day after day: one price for all days, kept by the device's own file."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import sordino as so
from sordino.accounting.events import Pure, Repeated
from sordino.collect import device as devices
from sordino.collect.coins import Replayed
from sordino.collect.daily import every_day
from sordino.errors import ArgumentError, BudgetError


def test_all_days_cost_one_longitudinal_price_a_period() -> None:
    asked = every_day(["tea", "coffee"], longitudinal=2, epsilon=1, periods=3, days=10)
    poll = so.collect.survey("drinks", asked, days=30)
    assert poll.event() == Repeated(Pure(Fraction(2)), 3)
    assert so.collect.survey("drinks", every_day(5, longitudinal=2, epsilon=1, days=1000), days=1000).event() == Pure(2)
    assert poll.digest != so.collect.survey("drinks", every_day(2, longitudinal=2, epsilon=1, days=30), days=30).digest
    with pytest.raises(ArgumentError, match="SRD-C714"):
        so.collect.survey("drinks", asked, trust="shuffled", batch=100, delta="1e-6")


def test_a_device_keeps_its_permanent_answer_for_a_period(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = every_day(["tea", "coffee"], longitudinal=2, epsilon=1, periods=2, days=3)
    poll = so.collect.survey("drinks", asked, days=6)
    device, kept = so.collect.Device(tmp_path / "device.json"), []
    for day in range(6):
        monkeypatch.setattr(devices, "_today", lambda day=day: f"2026-06-{day + 1:02}")
        device.report(poll, "tea" if day < 4 else "coffee")
        state = json.loads((tmp_path / "device.json").read_text())["surveys"][poll.digest.hex()]["state"]
        kept.append([key for key, _ in state["memory"]["kept"]])
    assert kept == [["0"]] * 3 + [["0", "1"]] * 3
    with pytest.raises(BudgetError, match="SRD-C707"):
        device.report(poll, "tea")


def test_reports_of_one_period_come_from_one_permanent_answer() -> None:
    asked = every_day(4, longitudinal=8, epsilon=7, periods=1, days=100)
    random = np.random.default_rng(4)
    state, seen = None, set()
    for day in range(1, 29):
        payload, state = asked.remembered(day % 4, f"2026-06-{day:02}", state, Replayed(random.bytes(400)))
        seen.add(payload[:2])
    assert len(seen) == 1  # one function, drawn once
    assert len(state["memory"]["kept"]) == 1  # and one permanent answer, though the value changed every day


def test_a_round_counts_what_devices_say(tmp_path: Path) -> None:
    poll = so.collect.survey("drinks", every_day(["tea", "coffee"], longitudinal=9, epsilon=8, days=7), days=7)
    with so.open(tmp_path / "budget.db") as house:
        running = house.collect(poll)
        told = [so.collect.Device(tmp_path / f"{each}.json").report(poll, "tea") for each in range(60)]
        assert running.take(told).taken == 60
        closed = running.close()
        low, high = closed.estimate().intervals(0.999)[0]
        assert low <= 60 <= high
        assert closed.receipt is not None
