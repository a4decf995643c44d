"""Maps: priced, run, shown, read again; neighbours differ by no more than is paid for, also where regions adapt."""

from __future__ import annotations

import json
import struct
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from publish.replaying import judged
from sordino.accounting.events import Concentrated, Pure
from sordino.errors import ArgumentError, RunError
from sordino.publish.places.map_marks import SHOWN, SUPPRESSED, UNCERTAIN, ZERO, Rules
from sordino.publish.places.map_page import page
from sordino.publish.places.map_release import HeatMap
from sordino.publish.places.quadtree import blocks_of, sides_of, split, whole
from sordino.publish.publication import Publication
from sordino.publish.recipes import read

DICE = np.random.default_rng(50)
LATITUDE = np.concatenate([DICE.normal(41.1, 0.03, 900), [np.nan, np.inf, -np.inf, 89.0, 40.5, 41.4]])
LONGITUDE = np.concatenate([DICE.normal(-71.4, 0.05, 900), [-71.4] * 4 + [-60.0, -71.0]])
SITES = pa.table({"person": np.arange(906) // 3, "lat": LATITUDE, "lon": LONGITUDE})
BOX = ("-71.8", "40.8", "-71.0", "41.4")
INSIDE = (LATITUDE >= 40.8) & (LATITUDE <= 41.4) & (LONGITUDE >= -71.8) & (LONGITUDE <= -71.0)
METHODS = ["hierarchy", "grid", "quadtree"]


def sites(keep: Any = None, rows: int = 3) -> Any:
    table = SITES if keep is None else SITES.filter(keep)
    return so.dataset("sites", table, unit="person", limits=so.limits(rows=rows))


def heat_map(data: Any = None, budget: Any = None, **words: Any) -> Publication[HeatMap]:
    given: dict[str, Any] = {"box": BOX, "cells": (18, 20), **words}
    return so.publish.heat_map(so.account(data or sites(), budget or so.budget(epsilon=1000)), "lat", "lon", **given)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("most", [None, 2])
@pytest.mark.parametrize("budget", [so.budget(epsilon=9), so.budget(rho=9)])
def test_neighbours_differ_within_the_bound_alone(method: Any, most: int | None, budget: Any) -> None:
    without = sites(pa.array(np.arange(906) // 3 != 40))
    words = {"rho": 1} if budget.rho is not None else {"epsilon": 1}
    judged(lambda data: heat_map(data, budget, method=method, sites=most), sites(), without, **words)


@pytest.mark.parametrize("method", METHODS)
def test_with_little_noise_a_map_is_right(method: Any, tmp_path: Path) -> None:
    made = heat_map(method=method).run(epsilon=900)
    rows = np.minimum(((LATITUDE[INSIDE] - 40.8) / 0.6 * 18).astype(int), 17)
    columns = np.minimum(((LONGITUDE[INSIDE] + 71.8) / 0.8 * 20).astype(int), 19)
    truth = np.zeros((18, 20))
    np.add.at(truth, (rows, columns), 1)
    assert INSIDE.sum() == 901  # what lies outside, or is no number, counts nowhere
    assert np.abs(made.cells - truth).max() <= 1.5
    assert made.cells.sum() == pytest.approx(901, abs=2)
    assert made.inside(*map(float, BOX)) == pytest.approx(made.cells.sum())
    again = so.publish.load(made.save(tmp_path / "all"))
    assert again.manifest == made.manifest
    np.testing.assert_array_equal(again.cells, made.cells)
    assert made.plot().get_axes()


def test_each_person_counts_once_in_a_cell() -> None:
    table = pa.table({"person": [1] * 8 + [2], "lat": [41.0] * 9, "lon": [-71.5] * 9})
    data = so.dataset("sites", table, unit="person", limits=so.limits(rows=9))
    made = heat_map(data, sites=2).run(epsilon=900)
    assert made.cells.sum() == pytest.approx(2, abs=0.2)
    assert made.counted == "person sites"


@pytest.mark.parametrize(("words", "claim"), [({"epsilon": "0.5"}, Pure), ({"rho": "0.5"}, Concentrated)])
def test_what_adapts_is_charged_as_its_claim(words: Any, claim: type) -> None:
    asked = heat_map(None, so.budget(**dict.fromkeys(words, 1)), method="quadtree")
    assert isinstance(asked.plan(**words).event(), claim)
    assert isinstance(asked.price(**words).error_of("cell").amount, float)
    asked.run(**words)
    assert asked.data.account.used == pytest.approx(0.5)


def test_regions_without_anything_are_not_split() -> None:
    made = heat_map(method="quadtree", cells=(64, 64)).run(epsilon=3)
    flat = heat_map(cells=(64, 64)).run(epsilon=3)
    assert len(made.reading.areas) < 0.7 * len(flat.reading.areas)
    assert made.reading.areas.sum() == 64 * 64


def test_partitions_refine_each_other() -> None:
    before = whole(10, 13)
    chosen = np.ones(1, dtype=bool)
    cells = DICE.integers(0, 9, 130)
    for side in sides_of(10, 13):
        after = split(before, chosen, blocks_of(10, 13, side))
        np.testing.assert_array_equal(after.parent[after.region], before.region)
        assert after.added_up(cells).sum() == cells.sum()
        assert after.areas.min() >= 1
        chosen, before = np.arange(after.size) % 2 == 0, after
    assert sides_of(256, 256) == (64, 16, 4, 1)
    assert sides_of(1, 1) == (1,)


def test_marks_tell_zero_suppressed_and_uncertain_apart() -> None:
    cells, off = np.array([0.2, 3.0, 30.0, 30.0, 300.0]), np.array([5.0, 0.1, 20.0, 1.0, 20.0])
    assert Rules(suppress=5).marks(cells, off).tolist() == [ZERO, SUPPRESSED, UNCERTAIN, SHOWN, SHOWN]
    assert Rules().marks(cells, off).tolist() == [ZERO, SHOWN, UNCERTAIN, SHOWN, SHOWN]


class Reading(HTMLParser):
    """Notes whatever would be loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data")]


def test_a_page_is_whole_and_loads_nothing(tmp_path: Path) -> None:
    made = heat_map(suppress=5).run(epsilon=2)
    text = made.save(tmp_path / "sites.html").read_text(encoding="utf-8")
    reading = Reading()
    reading.feed(text)
    assert [each[:22] for each in reading.loaded] == ["data:image/png;base64,"]
    assert "default-src 'none'" in text
    assert "http://" not in text
    assert "https://" not in text
    numbers = json.loads(text.split('id="numbers">')[1].split("</script>")[0])
    hidden = np.array(numbers["marks"]) == SUPPRESSED
    assert hidden.any()
    assert not np.any(np.array(numbers["cells"])[hidden])


def test_names_in_a_page_are_escaped() -> None:
    numbers = {"rows": 1, "columns": 1, "west": 0, "south": 0, "east": 1, "north": 1, "words": ["</script><b>"]}
    text = page("a <b>&map", b"", numbers, {"zero": "<b>"}, {"<b>": "<b>"})
    assert "<b>" not in text
    assert "a &lt;b&gt;&amp;map" in text


def test_geojson_has_no_number_of_what_is_suppressed(tmp_path: Path) -> None:
    made = heat_map(suppress=8).run(epsilon=2)
    found = json.loads(made.save(tmp_path / "sites.geojson").read_text(encoding="utf-8"))
    marks = [each["properties"]["mark"] for each in found["features"]]
    assert len(marks) == np.count_nonzero(made.marks != ZERO)
    for each in found["features"]:
        assert ("estimate" in each["properties"]) == (each["properties"]["mark"] != "suppressed")
        ring = each["geometry"]["coordinates"][0]
        assert ring[0] == ring[-1]
        assert min(x for x, _ in ring) >= -71.8
        assert max(y for _, y in ring) <= 41.4


def test_the_image_is_a_png_in_which_marks_differ(tmp_path: Path) -> None:
    made = heat_map(suppress=5).run(epsilon=2)
    content = made.save(tmp_path / "sites.png").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    size = struct.unpack(">I", content[33:37])[0]
    lines = np.frombuffer(zlib.decompress(content[41 : 41 + size]), dtype=np.uint8).reshape(height, 1 + 3 * width)
    image = lines[:, 1:].reshape(height, width, 3)[::-1]
    times = height // 18
    middle = image[times // 2 :: times, times // 2 :: times].astype(int)
    colours = {mark: {tuple(each) for each in middle[made.marks == mark]} for mark in range(4)}
    for one in range(4):
        for other in range(one):
            assert not colours[one] & colours[other]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"box": (1, 2, 3)}, "SRD-P402"),
        ({"box": (-71, 40.8, -71.8, 41.4)}, "SRD-P402"),
        ({"box": (-71.8, 41, -71, 41)}, "SRD-P402"),
        ({"box": (-71.8, float("nan"), -71, 41)}, "SRD-A001"),
        ({"cells": 64}, "SRD-P402"),
        ({"cells": (0, 4)}, "SRD-A002"),
        ({"sites": 0}, "SRD-A002"),
        ({"method": "hexagons"}, "SRD-A"),
        ({"uncertain": 0}, "SRD-A002"),
    ],
)
def test_what_metadata_shows_to_be_wrong_is_refused(words: Any, code: str) -> None:
    with pytest.raises(ArgumentError, match=code):
        heat_map(**words)


def test_columns_that_are_no_coordinates_are_refused() -> None:
    account = so.account(sites(), so.budget(epsilon=1))
    with pytest.raises(ArgumentError, match="SRD-P401"):
        so.publish.heat_map(account, "lat", "height", box=BOX)
    unlimited = so.account(so.dataset("sites", SITES, unit="person"), so.budget(epsilon=1))
    with pytest.raises(ArgumentError, match="SRD-P007"):
        so.publish.heat_map(unlimited, "lat", "lon", box=BOX)
    assert so.publish.heat_map(unlimited, "lat", "lon", box=BOX, cells=(4, 4), sites=2).price(epsilon=1).fits
    with pytest.raises(ArgumentError, match="SRD-P402"):
        heat_map().run(epsilon=1).inside(-71, 41, -72, 41.2)


@pytest.mark.parametrize("method", METHODS)
def test_a_recipe_is_read_from_what_it_says(method: Any) -> None:
    asked = heat_map(method=method, sites=2, suppress=5)
    assert read("heat-map", asked.data.protected, asked.recipe.plain()) == asked.recipe
    json.dumps(asked.recipe.plain())


def test_a_round_that_fails_is_charged_and_releases_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = heat_map(None, so.budget(epsilon=2), method="quadtree")
    calls = []

    def broken(*given: Any) -> Any:
        calls.append(given)
        raise ValueError("person 7 was in Rome")

    monkeypatch.setattr("sordino.publish.places.map_design._read", broken)
    with pytest.raises(RunError) as raised:
        asked.run(epsilon=1)
    assert len(calls) == 1
    assert "Rome" not in str(raised.value)
    assert asked.data.account.used == pytest.approx(0.5)
