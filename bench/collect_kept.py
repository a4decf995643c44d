"""Ten million reports in Parquet: how long they take to be counted and estimated."""

from __future__ import annotations

from measure import Bar, Call, Case, Measured, Verdict

NOTES = """\
10⁷ reports of 1,000 values at ε = 1 as a closed round keeps them: Parquet with a random id and a payload each, written
beforehand by another process. Time is for reading (DuckDB), counting, estimates and intervals, from a file that was
just written; memory is the largest of the process. Squared errors are against theory, to see that the right thing was
counted.
"""
"""What the page of documentation says above this room's table."""

ASKED = {"reports": 10**7, "domain": 1000, "epsilon": 1.0}
SECONDS = {
    "k-ary": 10.0,
    "unary": 40.0,
    "unary-symmetric": 40.0,
    "hadamard": 10.0,
    "hashing": 10.0,
    "hashing-fast": 10.0,
    "subset": 40.0,
    "projective-geometry": 10.0,
    "count-mean-sketch": 10.0,
    "hadamard-count-mean-sketch": 10.0,
}
GIBIBYTES = 4


def cases() -> list[Case]:
    """Return the cases of this room."""
    return [
        Case(
            f"estimate from 10⁷ reports in Parquet, {way}",
            Call("sordino_kept", "estimate", {"way": way, **ASKED}),
            None,
            _time_and_memory(seconds),
            repeats=1,
            fresh=True,
        )
        for way, seconds in SECONDS.items()
    ]


def _time_and_memory(seconds: float) -> Bar:
    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        memory, squared = ours.values["gibibytes"], ours.values["squared"]
        told = f"{ours.seconds:.2f} s, {memory:.2f} GiB, squared error {squared:.2f} × theory"
        passed = ours.seconds <= seconds and memory < GIBIBYTES and ours.values["reports"] == ASKED["reports"]
        return Verdict(told, f"≤ {seconds:g} s, < {GIBIBYTES} GiB", passed and 0.5 < squared < 2)

    return judge
