"""Totals that are declared public are published exactly, and where they are not, nothing is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from publish.hierarchies.test_neighbours import observed, within
from publish.hierarchies.towns import COLUMNS, LEVELS, PLACES, QUERIES, country, rows
from sordino.accounting.neighbours import Neighbours
from sordino.data.declarations_file import dataset_from_file
from sordino.errors import ArgumentError, LedgerError, QuestionError
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope

STATES = dict(zip(PLACES["tract"], PLACES["state"], strict=True))
COUNTIES = dict(zip(PLACES["tract"], PLACES["county"], strict=True))


def placed(table: pa.Table) -> pa.Table:
    """Return only people who live somewhere and have a race, with their states and counties."""
    kept = table.filter(pa.compute.not_equal(table["tract"], "sea")).to_pandas()
    kept = kept[kept["race"] != "z"]
    return pa.Table.from_pandas(
        kept.assign(state=kept["tract"].map(STATES), county=kept["tract"].map(COUNTIES)), preserve_index=False
    )


TABLE = placed(rows(300, seed=3))


def declared(source: Any = TABLE, *, within: str | None = "state", **words: Any) -> Any:
    columns = {**COLUMNS, "state": so.column(kind="text"), "county": so.column(kind="text")}
    words = {"unit": so.ROW, "neighbours": Neighbours.REPLACE_ONE, **words}
    return so.dataset("people", source, columns=columns, within=within, **words)


def asked(data: Any, budget: Any = None) -> Any:
    account = so.account(data, budget or so.unlimited("a test"))
    return so.publish.hierarchy(account, country(), queries=QUERIES)


@pytest.mark.parametrize(("part", "depth"), [("state", 1), ("county", 2), ("tract", 3)])
def test_totals_of_the_part_and_above_are_exact_and_everything_adds_up(part: str, depth: int) -> None:
    made = asked(declared(within=part)).run(rho="0.05")
    frame = TABLE.to_pandas()
    for number, level in enumerate(LEVELS):
        exact = frame.groupby(level).size()
        found = made.whole(level, "total").to_pandas()
        right = [exact[place] for place in found[level]] == found["count"].tolist()
        assert right == (number < depth)
        if number < depth:
            assert found["low"].tolist() == found["high"].tolist() == found["count"].tolist()
            estimate = np.asarray(made.unbiased(level, "total")["estimate"])
            assert np.abs(estimate - np.asarray(found["count"])).max() < 1e-3
    cells = made.whole("tract").to_pandas()
    assert (cells["count"] >= 0).all()
    assert cells.groupby("county")["count"].sum().to_dict() == (
        made.whole("county", "total").to_pandas().set_index("county")["count"].to_dict()
    )


def test_public_totals_cost_nothing_and_their_share_is_for_the_others() -> None:
    plain, public = asked(declared(within=None)).plan(rho=1), asked(declared()).plan(rho=1)
    assert len(plain.event().events) == 12
    assert len(public.event().events) == 11
    assert public.design.noise[0][1].variance < plain.design.noise[0][1].variance


def test_price_and_release_say_what_is_not_protected() -> None:
    job = asked(declared())
    assert "how many rows there are in each state is not protected" in str(job.price(rho=1))
    made = job.run(rho=1)
    assert made.manifest["unit"] == "row (within its state)"
    assert made.manifest["measured"]["not_protected"][1] == "how many rows there are in each state"
    assert asked(declared(within=None)).run(rho=1).manifest["measured"]["not_protected"] == [
        "how many rows there are in all"
    ]


def test_the_neighbour_oracle_within_a_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row is replaced by any other of its state: what meets noise stays within the bound, all else is alike."""
    import publish.hierarchies.test_neighbours as oracle

    monkeypatch.setattr("sordino.noise.uniform", lambda _most: 5)
    monkeypatch.setattr(oracle, "counted", lambda data, budget: asked(data, budget))
    here, seen = observed(declared(), monkeypatch)
    dice = np.random.default_rng(1)
    for _ in range(8):
        people = TABLE.to_pylist()
        at = int(dice.integers(len(people)))
        there = dice.choice([tract for tract in STATES if STATES[tract] == people[at]["state"]])
        people[at] |= {"tract": str(there), "county": COUNTIES[str(there)], "sex": "f", "age": 0}
        exact, seen_there = observed(declared(pa.Table.from_pylist(people)), monkeypatch)
        for (one, bound), (other, _) in zip(here, exact, strict=True):
            assert not (one != other).any() or within(one - other, bound)
        assert seen_there == seen
    moved = TABLE.to_pylist()
    moved[0] |= {"state": "B" if moved[0]["state"] == "A" else "A"}
    assert observed(declared(pa.Table.from_pylist(moved)), monkeypatch)[1] != seen  # it could fail


def test_a_plain_account_and_a_plain_group_are_refused(tmp_path: Path) -> None:
    plain = so.account(declared(within=None), so.budget(rho=1)).account
    with pytest.raises(ArgumentError, match="open another account"):
        so.account(declared(), plain)
    with so.open(tmp_path / "budget.db") as house:
        house.account(declared(within=None), so.budget(rho=1))
        with pytest.raises((ArgumentError, LedgerError)):
            house.account(declared(), so.budget(rho=1))


def test_a_group_of_plain_rows_takes_no_such_data(tmp_path: Path) -> None:
    with so.open(tmp_path / "budget.db") as house:
        rule = Rule.open(so.budget(rho=1), unit="row", neighbours=Neighbours.REPLACE_ONE)
        house.ledger.open_scope(Scope("group", "census"), rule, "olga")
        house.account(declared(within=None), so.budget(rho=1), groups=("census",))
        others = so.dataset(
            "others",
            TABLE,
            unit=so.ROW,
            columns={"state": so.keys(["A", "B"])},
            neighbours=Neighbours.REPLACE_ONE,
            within="state",
        )
        with pytest.raises(LedgerError, match="members of a group name one unit"):
            house.account(others, so.budget(rho=1), groups=("census",))


def test_receipts_and_reports_say_what_is_not_protected(tmp_path: Path) -> None:
    with so.open(tmp_path / "budget.db") as house:
        account = house.account(declared(), so.budget(rho=1))
        made = so.publish.hierarchy(account, country(), queries=QUERIES).run(rho="0.5")
        assert "row (within its state)" in made.receipt.to_json()
        for unprotected, end in ((None, "each state"), ("The list of towns.", "each state; The list of towns.")):
            content = so.audit.report(house, "people", unprotected=unprotected).content
            stated = content["stated"]["unprotected"]
            assert stated.startswith("not protected: how many rows there are in all, how many rows")
            assert stated.endswith(end)
            assert "How many have each state is public, too." in content["protected"]["neighbours_in_words"]
        signed = so.audit.report(house, "people").sign(tmp_path / "budget.db.key")
        assert signed.check(house.ledger.key.text).holds


@pytest.mark.parametrize(
    "words",
    [
        {"neighbours": Neighbours.ADD_REMOVE},
        {"neighbours": Neighbours.ZERO_OUT},
        {"unit": "person"},
        {"within": 3},
        {"within": "not a name"},
        {"within": "planet"},
    ],
)
def test_a_relation_that_is_none_is_refused(words: dict[str, Any]) -> None:
    with pytest.raises((ArgumentError, QuestionError), match=r"within|word of up to"):
        declared(**words)


def test_declarations_are_written_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "people.yaml"
    path.write_text(declared().to_yaml(), encoding="utf-8")
    again = dataset_from_file(path, {"people": TABLE})
    assert again.schema == declared().schema
    assert again.unit.name == "row (within its state)"
    assert "within: state" in path.read_text(encoding="utf-8")


def test_questions_are_answered_at_the_price_of_replace_one() -> None:
    text = "SELECT COUNT(*) AS n FROM people WHERE age = 1"
    widths = [
        so.account(declared(within=part), so.budget(rho=1)).sql(text).price(rho="0.1").event for part in (None, "state")
    ]
    assert widths[0] == widths[1]
