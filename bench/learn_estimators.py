"""Estimators: how good a model is at ε = 1, against diffprivlib and DP-EBM; logistic regression against none at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from measure import Bar, Call, Case, Measured, Verdict

NOTES = """\
Quality on rows that were not learned from, mean of several fits: accuracy; R² of the last column from the others
(linear); the part of variance that five components hold; the mean squared distance from the nearest of ten centres, and
how far means are off as a part of the bounds, both with a minus. Ours at δ = 1e-5, diffprivlib's at pure ε = 1 (it has
nothing else); both know the same bounds, norms and classes. Capital gain and loss of Adult are logarithms, for all
sides. Adult is read from the folder that SORDINO_BENCH_DATA names, or ../shared/data; its cases are left out where it
is not. Principal components are those of sixteen pixels in the middle: of all 64, one fit of diffprivlib's had not
ended after half an hour.
"""
FOLDER = Path(os.environ.get("SORDINO_BENCH_DATA", Path(__file__).parent.parent.parent / "shared" / "data")) / "tabular"
DELTA = 1e-5
KINDS = {
    "logistic": "logistic regression",
    "bayes": "naive Bayes",
    "forest": "random forest",
    "linear": "linear regression",
    "ridge": "ridge against linear regression",
    "scaler": "standard scaler",
    "kmeans": "k-means",
}
RUNS = {"adult": 5, "digits": 10, "middles of digits": 10}


def cases() -> list[Case]:
    """Return the cases of this room; those of Adult only where it is."""
    sources = ["digits"]
    if (FOLDER / "adult.data").exists():
        sources.append("adult")
    else:
        print(f"no {FOLDER / 'adult.data'}: cases of Adult are left out; name the folder by SORDINO_BENCH_DATA")
    found = [_against_diffprivlib(kind, source) for source in sources for kind in KINDS]
    found.append(_against_diffprivlib("pca", "middles of digits"))
    if "adult" in sources:
        found += [_shortfall(1.0, 0.6), _shortfall(0.3, 1.0), _against_interpret()]
    return found


def _against_diffprivlib(kind: str, source: str) -> Case:
    asked = {"kind": kind, "source": source, "folder": str(FOLDER), "epsilon": 1.0, "runs": RUNS[source]}
    return Case(
        f"{KINDS.get(kind, 'principal components')}, {source}, ε = 1",
        Call("sordino_estimators", "fits", {**asked, "delta": DELTA}),
        Call("diffprivlib_models", "fits", asked),
        as_good(0.0),
        repeats=1,
        fresh=True,
    )


def _against_interpret() -> Case:
    asked: dict[str, Any] = {"source": "adult", "folder": str(FOLDER), "epsilon": 1.0, "delta": DELTA, "runs": 5}
    return Case(
        "boosted shapes against DP-EBM, adult, ε = 1",
        Call("sordino_estimators", "fits", {**asked, "kind": "boosting"}),
        Call("interpret", "fits", asked),
        as_good(0.005),
        repeats=1,
        fresh=True,
    )


def _shortfall(epsilon: float, most: float) -> Case:
    asked = {"source": "adult", "folder": str(FOLDER), "epsilon": epsilon, "delta": DELTA, "runs": 20}
    return Case(
        f"logistic regression below none at all, adult, ε = {epsilon:g}, mean of 20",
        Call("sordino_estimators", "shortfall", asked),
        None,
        points_below(most),
        repeats=1,
        fresh=True,
    )


def as_good(slack: float) -> Bar:
    """Ours is at least as good as theirs, but for `slack`."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        one, other = ours.values["value"], theirs.values["value"]
        wanted = "≥ the peer" + (f" − {slack:g}" if slack else "")
        return Verdict(f"{one:.4g} against {other:.4g}", wanted, one >= other - slack)

    return judge


def points_below(most: float) -> Bar:
    """Ours is at most so many points below what scikit-learn reaches without privacy."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        value = ours.values["value"]
        return Verdict(
            f"{value:.2f} points below {100 * ours.values['plain']:.2f} %", f"≤ {most:g} points", value <= most
        )

    return judge
