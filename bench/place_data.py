"""Where the block groups of the United States lie, if they are there: the census of 2020, by population."""

from __future__ import annotations

import csv
import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ.get("SORDINO_BENCH_DATA", Path(__file__).parents[2] / "shared" / "data")) / "geo"
COUNTRY, STATE = FOLDER / "block_group2020.csv.gz", FOLDER / "ri_block_group2020.csv"
MISSING = f"as its data is not in {FOLDER} (set SORDINO_BENCH_DATA)"
LEVELS = ("state", "county", "tract", "block_group")
SHAPE = (2, 4, 8)
_CODES = ("STATEFP", "COUNTYFP", "TRACTCE", "BLKGRPCE")


@dataclass(frozen=True)
class Places:
    """Block groups with the codes of all places that they are in, and the people of each cell: places × 64."""

    codes: dict[str, list[str]]
    cells: np.ndarray


def are_there() -> bool:
    """Return whether both files are there."""
    return COUNTRY.exists() and STATE.exists()


def places(whole_country: bool) -> Places:
    """Return the places, with everybody spread over cells by one rule.

    The rule: each state has its own shares of the 64 cells (Dirichlet with 0.3, so that a few cells hold most people),
    and a block group's people are drawn from these, from one seed.
    """
    text = gzip.decompress(COUNTRY.read_bytes()) if whole_country else STATE.read_bytes()
    rows = sorted(csv.DictReader(text.decode().splitlines()), key=lambda row: [row[code] for code in _CODES])
    codes = {
        level: ["".join(row[code] for code in _CODES[: depth + 1]) for row in rows]
        for depth, level in enumerate(LEVELS)
    }
    people = np.array([int(row["POPULATION"]) for row in rows])
    dice = np.random.default_rng(2020)
    states, of = np.unique(codes["state"], return_inverse=True)
    shares = dice.dirichlet(np.full(int(np.prod(SHAPE)), 0.3), size=len(states))
    return Places(codes, dice.multinomial(people, shares[of]))
