"""A recipe passes the gate: priced, charged whole, run once, settled, saved; and cannot run more than it claims."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sordino as so
from publish.strange import Cells, Counting
from sordino.accounting.events import Declared
from sordino.errors import ArgumentError, BudgetError, RunError
from sordino.publish.publication import Publication
from sordino.publish.released import read_saved

PEOPLE = pa.table({"person": [1, 1, 2, 3, 4], "city": ["Oslo", "Rome", "Rome", "Rome", "Bern"]})


def people(**words: Any) -> Any:
    columns = {"city": so.keys(["Oslo", "Rome", "Nice"])}
    return so.dataset("people", PEOPLE, unit="person", columns=columns, limits=so.limits(rows=2), **words)


def counting(budget: Any, *, data: Any = None, **words: Any) -> Publication[Cells]:
    account = so.account(data or people(), budget)
    return Publication(account, Counting(account.dataset.schema, "city", **words))


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (so.budget(epsilon=1), {"epsilon": "0.5"}),
        (so.budget(rho=1), {"rho": "0.5"}),
        (so.budget(epsilon=1, delta=1e-6), {"epsilon": "0.5"}),
        (so.budget(epsilon=1, delta=1e-6), {"epsilon": "0.5", "delta": "1e-7"}),
    ],
)
def test_what_is_said_is_what_is_charged(budget: Any, words: dict[str, Any]) -> None:
    asked = counting(budget)
    price = asked.price(**words)
    assert price.fits
    assert "cells" in str(price)
    assert (price.epsilon if "epsilon" in words else price.rho) == Fraction(next(iter(words.values())))
    made = asked.run(**words)
    assert 0.1 < asked.data.account.used <= 0.5  # a part of an (ε, δ) budget is not in proportion to ε
    assert len(made.noisy) == 3
    assert json.loads(made.to_json())["recipe"] == "counting"
    if "delta" in words:
        assert isinstance(price.event, Declared)


def test_an_account_without_a_cap_and_one_with_all_of_its_delta_set_aside() -> None:
    assert len(counting(so.unlimited("a test")).run(epsilon=1).noisy) == 3
    event = counting(so.budget(epsilon=1, delta=1e-6, own_delta_share=1)).price(epsilon=1).event
    assert isinstance(event, Declared)
    assert event.delta == Fraction(1, 10**6)


def test_a_goal_finds_the_least_price() -> None:
    asked = counting(so.budget(epsilon=10))
    goal = so.within(8, of="cells")
    price = asked.price(error=goal)
    assert price.error_of("cells").amount <= 8 < asked.price(epsilon=price.epsilon * Fraction(9, 10)).errors[0].amount
    with pytest.raises(ArgumentError, match="SRD-P001"):
        asked.price(error=so.within(8, of="cell"))


@pytest.mark.parametrize(("budget", "word"), [(so.budget(epsilon=1), "epsilon"), (so.budget(rho=1), "rho")])
def test_an_amount_of_many_digits_does_not_fail_after_its_charge(budget: Any, word: str) -> None:
    asked = counting(budget, times=3)
    assert len(asked.run(**{word: "0.12345678901234567890123"}).noisy) == 3
    assert asked.data.account.used <= 0.1234567890124


def test_stages_tell_the_share_of_the_budget() -> None:
    heard: list[Any] = []
    asked = counting(so.budget(epsilon=1), times=4).telling(lambda stage, **public: heard.append((stage, public)))
    asked.run(epsilon=1)
    assert heard == [("measuring", {"spent": share}) for share in (0.25, 0.5, 0.75, 1.0)]


def test_no_round_goes_beyond_the_claim() -> None:
    asked = counting(so.budget(epsilon=1), times=2, greedy=True)
    with pytest.raises(RunError) as raised:
        asked.run(epsilon="0.5")
    assert "budget" not in str(raised.value)
    assert asked.data.account.used == pytest.approx(0.5)


def test_two_recipes_of_one_event_have_two_digests() -> None:
    one, two = (counting(so.budget(epsilon=1), data=people(), greedy=greedy) for greedy in (False, True))
    plans = one.plan(epsilon=1), two.plan(epsilon=1)
    assert plans[0].event() == plans[1].event()
    assert plans[0].digest() != plans[1].digest()


def test_a_release_is_a_manifest_and_files_that_receipts_cover(tmp_path: Path) -> None:
    with so.open(tmp_path / "budget.db") as house:
        account = house.account(people(), so.budget(epsilon=1))
        made = Publication(account, Counting(account.dataset.schema, "city")).run(epsilon=1)
        assert made.receipt is not None
        assert house.verify().sound
        with pytest.raises(BudgetError):
            Publication(account, Counting(account.dataset.schema, "city")).run(epsilon=1)
    manifest, files = read_saved(made.save(tmp_path / "made"))
    assert manifest == made.manifest
    assert files == made.files
    (tmp_path / "made" / "cells.npz").write_bytes(b"others")
    with pytest.raises(ArgumentError, match="SRD-P003"):
        read_saved(tmp_path / "made")
    with pytest.raises(ArgumentError, match="SRD-P002"):
        read_saved(tmp_path)


def test_what_is_said_wrongly_is_refused_before_a_charge() -> None:
    asked = counting(so.budget(epsilon=1))
    for words in ({}, {"epsilon": 1, "rho": 1}, {"epsilom": 1}, {"rho": 1, "delta": 1e-6}, {"epsilon": 0}):
        with pytest.raises(ArgumentError):
            asked.run(**words)
    assert asked.data.account.used == 0
    with pytest.raises(ArgumentError, match="SRD-A001"):
        Publication(people(), Counting(people().schema, "city"))  # type: ignore[arg-type]
