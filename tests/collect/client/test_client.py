"""The client for browsers and Node sends the very bits that the Python side sends, and counts what it spends."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import sordino.collect.client
from collect.client.vectors import WAYS, vectors

MODULE = Path(sordino.collect.client.__file__).parent / "sordino.js"
HERE = Path(__file__).parent


def differing(folder: Path, name: str, count: int, seed: int) -> int:
    given = folder / "vectors.json"
    given.write_text(json.dumps(list(vectors(name, count, seed))))
    words = ["node", str(HERE / "compare.mjs"), str(MODULE), str(given)]
    return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)  # noqa: S603


@pytest.mark.parametrize("name", WAYS)
def test_node_sends_the_same_bits(tmp_path: Path, name: str) -> None:
    assert differing(tmp_path, name, 150, seed=7) == 0


@pytest.mark.long
@pytest.mark.parametrize("name", WAYS)
def test_node_sends_the_same_bits_ten_thousand_times(tmp_path: Path, name: str) -> None:
    assert differing(tmp_path, name, 10_000, seed=8) == 0


def test_a_difference_is_seen(tmp_path: Path) -> None:
    given = tmp_path / "vectors.json"
    found = list(vectors("k-ary", 20, seed=9))
    way, value, random, payload = found[3]
    found[3] = (way, value, random, "ff" + payload[2:] if payload[:2] != "ff" else "00" + payload[2:])
    given.write_text(json.dumps(found))
    words = ["node", str(HERE / "compare.mjs"), str(MODULE), str(given)]
    assert int(subprocess.run(words, capture_output=True, text=True, check=True).stdout) == 1  # noqa: S603


DEVICE = """
import { Device, Survey } from %s;
const spelled = JSON.stringify({ version: 1, values: ["tea", "coffee"], per_day: 2, days: 2,
  randomizer: { protocol: "k-ary", domain: 2, lie: "4961333023530713268" } });
const kept = new Map();
const storage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };
let day = 100;
const device = new Device(storage, () => day);
const survey = new Survey(spelled);
const said = [];
const tried = (value) => {
  try {
    said.push(device.report(survey, value).length);
  } catch (error) {
    said.push(error.code);
  }
};
tried("water");
tried("tea"); tried("tea"); tried("coffee");
day = 99; tried("tea");
day = 101; tried("tea"); tried("tea"); tried("tea");
day = 102; tried("tea");
said.push(new Device({ getItem: () => null, setItem() {} }, () => 1) && device.left(survey));
const forgetful = new Device({ getItem: () => null, setItem() {} }, () => 1);
try { forgetful.report(survey, "tea"); } catch (error) { said.push(error.code); }
console.log(JSON.stringify(said));
"""


def test_a_device_counts_before_a_report_leaves(tmp_path: Path) -> None:
    script = tmp_path / "device.mjs"
    script.write_text(DEVICE % json.dumps(MODULE.as_uri()))
    ran = subprocess.run(["node", str(script)], capture_output=True, text=True, check=True)  # noqa: S603, S607
    length, full = 1 + 32 + 16 + 1, "SRD-B001"
    told = ["SRD-C104", length, length, full, full, length, length, full, full, 0, full]
    assert json.loads(ran.stdout) == told


def test_it_needs_nothing_else() -> None:
    text = MODULE.read_text()
    assert "import " not in text.replace("important ", "")
    assert "Math.random" not in text
