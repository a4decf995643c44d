"""The client answers no survey whose coins, values or grid tell more than the ε that it shows, whoever spelled it."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from collect.client.test_client import MODULE, ran
from collect.client.vectors import OTHERS
from sordino.collect.choice import WAYS, frequency
from sordino.collect.numbers.choice import number
from sordino.collect.surveys import survey

EVERY = "; ".join(f'await import("{(MODULE.parent / name).as_uri()}")' for name in ("ways.js", "directions.js"))
FULL = str(2**64 - 1)


def refusals(tmp_path: Path, given: list[dict[str, Any]]) -> list[str]:
    """Return the code with which each survey is refused, and nothing for one that would be answered."""
    found: list[str] = ran(
        tmp_path,
        f"""
        {EVERY};
        const codes = {json.dumps(given)}.map((survey) => {{
          try {{
            new s.Survey(JSON.stringify(survey));
            return "";
          }} catch (error) {{
            return error.code ?? String(error);
          }}
        }});
        console.log(JSON.stringify(codes));
        """,
    )
    return found


def asked(way: str, **randomizer: Any) -> dict[str, Any]:
    """Return a survey of three values as it is spelled, with other words about its way to answer."""
    found = survey("poll", frequency(["a", "b", "c"], epsilon=1, way=way)).public()
    return {**found, "randomizer": {**found["randomizer"], **randomizer}}


FORGED = {
    "turned over by nearly all words": asked("k-ary", lie=FULL),
    "no lie": asked("k-ary", lie="0"),
    "more words than there are": asked("k-ary", lie=str(2**64)),
    "a word that is none": asked("k-ary", lie="1e3"),
    "fewer codes than values": asked("k-ary", domain=2),
    "more codes than values": asked("k-ary", domain=4),
    "a domain that is no number": asked("k-ary", domain="3"),
    "a bit that is never sent": asked("unary", own="0"),
    "a bit that is always sent": asked("unary", other=FULL),
    "others' bits told apart": asked("unary", other="1"),
    "a bucket told plainly": asked("hashing", lie=FULL),
    "places that are too few": asked("hadamard", places=2),
    "places that are no power of two": asked("hadamard", places=6),
    "the wrong half": asked("hadamard", truth="1"),
    "a set of all": asked("subset", chosen=3),
    "never in the set": asked("subset", truth="1"),
    "an ε that is none": {**asked("k-ary", lie="1"), "epsilon": "much"},
    "an ε that divides by zero": {**asked("k-ary", lie="1"), "epsilon": "0/0"},
}


def test_forged_frequencies_are_not_answered(tmp_path: Path) -> None:
    assert refusals(tmp_path, [asked(way.name) for way in WAYS]) == [""] * len(WAYS)
    assert dict(zip(FORGED, refusals(tmp_path, list(FORGED.values())), strict=True)) == dict.fromkeys(
        FORGED, "SRD-C715"
    )


def scaled(what: str, **scale: Any) -> dict[str, Any]:
    found = survey("poll", number(0, 10, epsilon=1, what=what)).public()
    return {**found, "scale": {**found["scale"], **scale}}


def test_forged_grids_are_not_answered(tmp_path: Path) -> None:
    """A code beyond those that the way has coins for would be told plainly, as would one that no number has."""
    whats = ("mean", "variance", "distribution")
    assert refusals(tmp_path, [scaled(what) for what in whats]) == [""] * 3
    forged = [
        scaled(what, **scale)
        for what in whats
        for scale in (
            {"steps": 2**20},
            {"steps": 2},
            {"factor": "Infinity"},
            {"factor": "1.0"},
            {"low": "NaN"},
            {"high": "0.0"},
            {"low": 0},
        )
    ]
    assert refusals(tmp_path, forged) == ["SRD-C715"] * len(forged)


def test_each_way_is_known_by_its_coins(tmp_path: Path) -> None:
    """Its loss is ε or a little less; with a coin that always falls on one side it is without bound, or very large.

    (Of two floors of coins the other one still holds.)
    """
    dice, given = np.random.default_rng(5), []
    for name, epsilon in product(OTHERS, (Fraction(1, 2), Fraction(3))):
        way, _ = OTHERS[name](dice, epsilon)
        given.append([dict(way.public()), float(way.epsilon)])
    found = ran(
        tmp_path,
        f"""
        {EVERY};
        const kept = new Set(["salt", "domain", "longest", "share", "longitudinal"]);
        const told = {json.dumps(given)}.map(([way, epsilon]) => {{
          const spelled = (given) => typeof given === "string" && /^[0-9]+$/.test(given);
          const coins = Object.keys(way).filter((key) => spelled(way[key]) && !kept.has(key));
          const turned = (key) => {{
            const worst = ["1", "{FULL}", "0"].map((each) => s.loss({{ ...way, [key]: each }}));
            return Math.min(1e9, Math.max(...worst));
          }};
          if ("longitudinal" in way) return [s.loss(way) / epsilon, coins.length, 1e9];
          return [s.loss(way) / epsilon, coins.length, Math.min(...coins.map(turned), 1e9)];
        }});
        console.log(JSON.stringify(told));
        """,
    )
    assert sum(coins for _, coins, _ in found) > 30
    for ratio, _, turned in found:
        assert 0.5 <= ratio <= 1 + 1e-9
        assert turned > 20
