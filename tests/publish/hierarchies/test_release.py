"""What comes out: two kinds of tables, with intervals that cover, saved and made again, drawn."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import sordino as so
from publish.hierarchies.towns import LEVELS, PLACES, QUERIES, counted, country, people, rows, truth
from sordino.errors import ArgumentError

TABLE = rows(600)


@pytest.fixture(scope="module")
def made() -> Any:
    return counted(people(TABLE), so.unlimited("a test"), shares={"state": 2, "tract": 1}).run(rho=2)


def test_tables_have_a_row_for_each_place_and_cell(made: Any) -> None:
    county = made.unbiased("county", "race")
    assert county.column_names == ["state", "county", "race", "estimate", "low", "high"]
    assert county["county"].to_pylist() == ["A1", "A1", "A2", "A2", "B1", "B1"]
    assert county["state"].to_pylist() == ["A", "A", "A", "A", "B", "B"]
    assert county["race"].to_pylist() == ["x", "y"] * 3
    cells = made.whole("tract")
    assert cells.column_names == [*LEVELS, "sex", "age", "race", "count", "low", "high"]
    assert cells.num_rows == 6 * 12
    assert made.whole("state", "total").column_names == ["state", "count", "low", "high"]
    assert cells["age"].to_pylist()[:6] == [0, 0, 1, 1, 2, 2]


def test_everything_adds_up(made: Any) -> None:
    whole = {level: made.whole(level, "race").to_pandas() for level in LEVELS}
    for above, below in pairwise(LEVELS):
        sums = whole[below].groupby([above, "race"], sort=False)["count"].sum()
        assert sums.to_dict() == whole[above].set_index([above, "race"])["count"].to_dict()
    for level in LEVELS:
        cells = made.whole(level).to_pandas()
        assert (cells["count"] >= 0).all()
        totals = made.whole(level, "total").to_pandas().set_index(level)["count"].to_dict()
        assert cells.groupby(level)["count"].sum().to_dict() == totals
        estimates = made.unbiased(level).to_pandas().groupby(level)["estimate"].sum()
        expected = made.unbiased(level, "total").to_pandas().set_index(level)["estimate"]
        assert np.allclose(estimates[expected.index], expected)


@pytest.mark.slow
def test_estimates_are_of_the_truth_and_intervals_cover(made: Any) -> None:
    exact = country().summed(truth(TABLE).reshape(6, -1))
    asked = counted(people(TABLE), so.unlimited("a test"), shares={"state": 2, "tract": 1})
    hit = {"unbiased": 0, "whole": 0, "narrow": 0}
    tried = 0
    for _ in range(40):
        once = asked.run(rho=1)
        for number, level in enumerate(LEVELS):
            counts = exact[number].reshape(-1)
            tried += len(counts)
            for kind in ("unbiased", "whole"):
                table = getattr(once, kind)(level)
                low, high = (np.asarray(table[name]) for name in ("low", "high"))
                hit[kind] += int(((low <= counts) & (counts <= high)).sum())
            estimate = np.asarray(once.unbiased(level)["estimate"])
            width = (np.asarray(once.unbiased(level)["high"]) - estimate) * 0.7
            hit["narrow"] += int((np.abs(estimate - counts) <= width).sum())
    assert 0.94 < hit["unbiased"] / tried < 0.965, f"{hit['unbiased']} of {tried}"
    assert hit["whole"] >= hit["unbiased"]
    assert hit["narrow"] / tried < 0.9  # intervals of 0.7 times the width are told apart
    assert np.abs(np.asarray(made.unbiased("tract")["estimate"]) - exact[2].reshape(-1)).max() < 8


def test_a_saved_release_is_made_again(made: Any, tmp_path: Path) -> None:
    again = so.publish.load(made.save(tmp_path / "made"))
    assert again.manifest == made.manifest
    assert again.files == made.files
    for level in LEVELS:
        assert again.whole(level).equals(made.whole(level))
        both = [np.asarray(each.unbiased(level, "race")["low"]) for each in (again, made)]
        assert np.abs(both[0] - both[1]).max() < 1e-9
    assert set(made.files) == {
        "measurements.npz",
        "whole.npz",
        "places.parquet",
        *(f"column-{n}.parquet" for n in range(3)),
    }
    assert len(made.to_json()) < 4_000


def test_all_tables_can_be_taken_along(made: Any, tmp_path: Path) -> None:
    folder = made.to_parquet(tmp_path / "tables")
    assert sorted(each.name for each in folder.iterdir()) == sorted(
        f"{number}-{kind}.parquet" for number in (1, 2, 3) for kind in ("unbiased", "whole")
    )
    assert pq.read_table(folder / "3-whole.parquet").equals(made.whole("tract"))


def test_the_files_are_receipted(tmp_path: Path) -> None:
    with so.open(tmp_path / "budget.db") as house:
        account = house.account(people(TABLE), so.budget(rho=1))
        made = so.publish.hierarchy(account, country(), queries=QUERIES).run(rho="0.5")
        assert made.receipt is not None
        assert house.verify().sound


def test_the_picture_has_a_row_for_each_level_and_a_colour_for_each_query(made: Any, tmp_path: Path) -> None:
    page = made.plot()
    assert [axes.get_ylabel().split("\n")[0] for axes in page.axes] == list(LEVELS)
    assert [text.get_text() for text in page.axes[0].get_legend().get_texts()] == [*QUERIES, "its own noise alone"]
    page.savefig(tmp_path / "tree.png")


@pytest.mark.parametrize(("level", "query"), [("town", None), ("state", "height")])
def test_what_is_not_there_is_refused(made: Any, level: str, query: str | None) -> None:
    for verb in (made.unbiased, made.whole):
        with pytest.raises(ArgumentError, match="SRD-P203"):
            verb(level, query)
    with pytest.raises(ArgumentError, match="SRD-A002"):
        made.unbiased("state", confidence=1)


def test_columns_without_cells_make_totals_alone() -> None:
    made = counted(people(TABLE), so.unlimited("a test"), queries={"total": []}).run(rho=500)
    exact = [TABLE["tract"].to_pylist().count(place) for place in PLACES["tract"]]
    assert made.whole("tract").to_pydict()["count"] == exact
    assert made.whole("tract").column_names == [*LEVELS, "count", "low", "high"]
