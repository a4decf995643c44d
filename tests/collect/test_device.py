"""A device sends what its account holds, and no more, whatever happens."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from collect.surveys import pets
from sordino.collect import device as module
from sordino.collect.device import Device
from sordino.errors import ArgumentError, BudgetError


@pytest.fixture
def clock(monkeypatch):
    """Return a function that sets the day."""
    now = ["2026-11-18"]
    monkeypatch.setattr(module, "_today", lambda: now[0])
    return lambda day: now.__setitem__(0, day)


def test_a_day_and_the_whole_are_capped(tmp_path, clock):
    poll, device = pets(per_day=2, days=2), Device(tmp_path / "device.json")
    for day, left in (("2026-11-18", 2), ("2026-11-19", 2)):
        clock(day)
        for spent in range(2):
            assert device.left(poll) == left - spent
            device.report(poll, "cat")
        with pytest.raises(BudgetError, match="SRD-C707"):
            device.report(poll, "cat")
    clock("2026-11-20")
    with pytest.raises(BudgetError, match=r"all 4 reports.*SRD-C707"):
        Device(tmp_path / "device.json").report(poll, "cat")
    assert device.report(pets(per_day=2, days=2, round=2), "cat")  # another survey, charged anew in the ledger


def test_a_clock_that_is_set_back_opens_no_day_anew(tmp_path, clock):
    poll, device = pets(per_day=1, days=9), Device(tmp_path / "device.json")
    device.report(poll, "cat")
    clock("2026-11-17")
    with pytest.raises(BudgetError, match="SRD-C707"):
        device.report(poll, "cat")


def test_a_device_may_cap_all_surveys_of_a_day_together(tmp_path, clock):
    device = Device(tmp_path / "device.json", epsilon_per_day=5)
    device.report(pets(), "cat")
    device.report(pets(round=2), "cat")
    with pytest.raises(BudgetError, match=r"own share.*SRD-C707"):
        device.report(pets(round=3), "cat")
    clock("2026-11-19")
    device.report(pets(round=3), "cat")


def test_what_is_no_answer_costs_nothing(tmp_path):
    poll, device = pets(), Device(tmp_path / "device.json")
    with pytest.raises(ArgumentError, match="SRD-C104"):
        device.report(poll, "owl")
    assert device.left(poll) == 1


def test_the_file_is_private_synced_and_holds_no_answer(tmp_path, monkeypatch):
    steps = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (steps.append("sync"), sync(handle))[1])
    monkeypatch.setattr(os, "replace", lambda *names: (steps.append("replace"), replace(*names))[1])
    Device(tmp_path / "device.json").report(pets(), "hén")
    assert steps == ["sync", "replace", "sync"]
    assert stat.S_IMODE((tmp_path / "device.json").stat().st_mode) == 0o600
    text = (tmp_path / "device.json").read_text()
    assert "hén" not in text
    assert "\\u00e9" not in text


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", '{"form":1,"day":"","spent":"-1","surveys":{}}',
     '{"form":2,"day":"","spent":"0","surveys":{}}',
     '{"form":1,"day":"tomorrow","spent":"0","surveys":{}}', '{"form":1,"day":"","spent":"1/0","surveys":{}}',
     '{"form":1,"day":"","spent":"0","surveys":{"00":{"day":"","today":0,"sent":0,"state":null}}}'],
)  # fmt: skip
def test_a_damaged_file_is_never_taken_for_a_new_one(tmp_path, text):
    (tmp_path / "device.json").write_text(text)
    with pytest.raises(ArgumentError, match="SRD-C708"):
        Device(tmp_path / "device.json")


def test_counts_in_the_file_must_be_counts(tmp_path):
    poll, device = pets(), Device(tmp_path / "device.json")
    device.report(poll, "cat")
    book = json.loads((tmp_path / "device.json").read_text())
    for wrong in (-1, True, 1.5, "1"):
        book["surveys"][poll.digest.hex()]["sent"] = wrong
        (tmp_path / "device.json").write_text(json.dumps(book))
        with pytest.raises(ArgumentError, match="SRD-C708"):
            device.report(poll, "cat")


def test_nothing_leaves_if_nothing_can_be_written(tmp_path, monkeypatch):
    poll, device = pets(), Device(tmp_path / "device.json")

    def full(*_):
        raise OSError(28, "no space")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArgumentError, match="SRD-C708"):
        device.report(poll, "cat")


def test_threads_and_processes_share_one_account(tmp_path):
    poll, sent, lock = pets(per_day=5, days=1), [], threading.Lock()

    def answer():
        for _ in range(4):
            try:
                Device(tmp_path / "device.json").report(poll, "cat")
            except BudgetError:
                continue
            with lock:
                sent.append(1)

    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from collect.surveys import pets; from sordino.collect.device import Device\n"
        "from sordino.errors import BudgetError\n"
        "n = 0\n"
        "for _ in range(4):\n"
        "    try: Device(sys.argv[1]).report(pets(per_day=5, days=1), 'cat'); n += 1\n"
        "    except BudgetError: pass\n"
        "print(n)"
    )
    here = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", code, str(tmp_path / "device.json"), here]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]  # noqa: S603
    threads = [threading.Thread(target=answer) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    elsewhere = sum(int(each.communicate()[0]) for each in others)
    assert len(sent) + elsewhere == 5


class Memoised:
    """K-ary response that answers once and repeats itself, to see that its state is kept."""

    def __init__(self, asks):
        self._asks = asks

    def __getattr__(self, name):
        return getattr(self._asks, name)

    def event(self):
        return self._asks.randomizer.event()

    def remembered(self, value, day, state, source):
        assert len(day) == 10
        kept = state or {"payload": self._asks.randomizer.report(value, source).hex(), "times": 0}
        return bytes.fromhex(kept["payload"]), kept | {"times": kept["times"] + 1}


def test_what_a_randomizer_remembers_is_kept_with_the_charge(tmp_path):
    from sordino.collect.frequencies.k_ary import KAry
    from sordino.collect.question import Coded
    from sordino.collect.surveys import survey

    poll = survey("pets", Memoised(Coded(KAry(domain=1000, epsilon="0.1"))), per_day=9)
    found = [Device(tmp_path / "device.json").report(poll, 5) for _ in range(9)]
    assert len({each.payload for each in found}) == 1
    assert len({each.id for each in found}) == 9
    held = json.loads((tmp_path / "device.json").read_text())["surveys"][poll.digest.hex()]
    assert held["state"]["times"] == held["sent"] == 9
