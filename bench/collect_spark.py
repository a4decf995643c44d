"""Spark and DuckDB count the reports of a closed round: the same integers."""

from __future__ import annotations

from importlib.util import find_spec
from shutil import which

from measure import Call, Case, Measured, Verdict

NOTES = """\
Reports of 1,000 values at ε = 1 in Parquet, as a closed round keeps them, counted by Spark's workers on two cores, its
start included, and by DuckDB. Every integer of the counts is compared.
"""
"""What the page of documentation says above this room's table."""

MISSING = "Spark needs Java and pyspark, and one of them is not installed"
REPORTS = {
    "k-ary": 10**7,
    "hadamard": 10**7,
    "hashing": 10**7,
    "hashing-fast": 10**7,
    "unary": 10**6,
    "subset": 10**6,
    "projective-geometry": 10**6,
    "count-mean-sketch": 10**6,
    "hadamard-count-mean-sketch": 10**7,
}


def cases() -> list[Case]:
    """Return the cases of this room; none without Spark."""
    if find_spec("pyspark") is None or which("java") is None:
        return []
    return [
        Case(
            f"DuckDB and Spark count {reports:,} reports, {way}",
            Call("sordino_kept", "by_spark", {"way": way, "reports": reports, "domain": 1000, "epsilon": 1.0}),
            None,
            _alike,
            repeats=1,
            fresh=True,
        )
        for way, reports in REPORTS.items()
    ]


def _alike(ours: Measured, _theirs: Measured | None) -> Verdict:
    differ, integers = ours.values["differ"], ours.values["integers"]
    return Verdict(f"{differ:g} of {integers:,.0f} integers differ", "none", differ == 0)
