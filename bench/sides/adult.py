"""Adult, as coded by the authors of AIM and as it is downloaded: read in place, and how far rows are from it."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np

from publication_data import TABLES

NUMBERS = {
    "age": (0, 100),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 16),
    "gain": (0, 99_999),
    "loss": (0, 5_000),
    "hours": (1, 99),
}
NAMES = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation", "relationship", "race", "sex",
    "gain", "loss", "hours", "country", "income",
)  # fmt: skip


def coded() -> tuple[list[str], list[int], Any]:
    """Return names, sizes and rows of the 14 coded columns."""
    domain = json.loads((TABLES / "adult_mbi-domain.json").read_text())
    rows = np.loadtxt(TABLES / "adult_mbi.csv", delimiter=",", skiprows=1, dtype=np.int64)
    return list(domain), list(domain.values()), rows


def raw(file: str) -> dict[str, list[Any]]:
    """Return the columns of adult.data or adult.test as they are: whole numbers and texts."""
    lines = [line.strip().rstrip(".").split(", ") for line in (TABLES / file).read_text().splitlines()]
    columns = zip(*(line for line in lines if len(line) == len(NAMES)), strict=True)
    return {
        name: [int(value) for value in column] if name in NUMBERS else list(column)
        for name, column in zip(NAMES, columns, strict=True)
    }


def distances(sizes: list[int], rows: Any, synthetic: Any) -> dict[str, float]:
    """Return mean total variations over all pairs of columns, and over 60 fixed triples."""
    pairs = list(itertools.combinations(range(len(sizes)), 2))
    triples = list(itertools.combinations(range(len(sizes)), 3))
    fixed = np.random.default_rng(7).choice(len(triples), 60, replace=False)
    return {
        "pairs": _mean(sizes, rows, synthetic, pairs),
        "triples": _mean(sizes, rows, synthetic, [triples[place] for place in fixed]),
    }


def _mean(sizes: list[int], rows: Any, synthetic: Any, cliques: list[tuple[int, ...]]) -> float:
    return float(np.mean([_variation(_shares(sizes, rows, each), _shares(sizes, synthetic, each)) for each in cliques]))


def _shares(sizes: list[int], rows: Any, clique: tuple[int, ...]) -> Any:
    shape = [sizes[place] for place in clique]
    counts = np.bincount(
        np.ravel_multi_index([rows[:, place] for place in clique], shape), minlength=int(np.prod(shape))
    )
    return counts / counts.sum()


def _variation(one: Any, other: Any) -> float:
    return float(np.abs(one - other).sum()) / 2
