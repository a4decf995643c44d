"""Peers under audit, as they are installed: families of subjects for each, and what the auditor finds in them."""

from __future__ import annotations

from typing import Any

import audit_subjects
from measure import Bar, Call, Case, Measured, Verdict

NOTES = """\
Every peer is drawn from in its own environment, as it is installed, and judged by its own claim: what its privacy map
says, or the ε that it was given. What is tried differs by peer (`bench/audit_subjects.py`). The families of subjects
were chosen knowing what others have reported; which parameters and neighbouring inputs of a family show anything is
left to `audit.measure`. *Refuted* is said where an honest peer would be accused with a chance of at most one in a
million for each line. *Not refuted* promises nothing, and where little was measured it says next to nothing. A bar
names what was known in public before; lines without one have no bar and cannot fail.
"""

KNOWN = {
    ("opendp", "rows", "bins"): "opendp #2944",
    ("opendp", "rows", "changed"): "opendp #2945",
    ("opendp", "people", "redefined"): "opendp #2949",
    ("diffprivlib", "regression", "low"): "diffprivlib #105",
    ("diffprivlib", "column", "given"): "bounds read from the data",
}
"""What others reported before, by what is special about the subject; used for labels, never for the search."""

NUMBER_DRAWS = 10_000
TABLE_DRAWS = {
    "rows": 3_000,
    "people": 1_600,
    "sum": 4_000,
    "mean": 4_000,
    "regression": 2_000,
    "query": 2_400,
    "training": 600,
}


def cases() -> list[Case]:
    """Return the cases of this room."""
    found = []
    for peer, subjects in _subjects().items():
        for subject in subjects:
            asked = {name: value for name, value in subject.items() if name not in ("words", "pairs")}
            fast = asked["kind"] in ("laplace", "gaussian", "geometric", "response", "choice")
            draws = NUMBER_DRAWS if fast else TABLE_DRAWS[asked["kind"]]
            call = {"peer": peer, "subject": asked, "pairs": subject["pairs"], "draws": draws}
            ours = Call("audit_peers", "audit", call)
            found.append(Case(f"{peer}: {subject['words']}", ours, None, _judged(_known(peer, subject)), 1, fresh=True))
    for calculus in ("rdp", "pld"):
        ours = Call("audit_peers", "audit_accountant", {"calculus": calculus, "rounds": 1})
        known = "the count of self-composed events" if calculus == "pld" else None
        found.append(Case(f"dp_accounting: its {calculus} accountant", ours, None, _judged(known), 1, fresh=True))
    return found


def _subjects() -> dict[str, list[dict[str, Any]]]:
    numbers = audit_subjects.numbers()
    return {
        "opendp": [*numbers, *audit_subjects.rows(), *audit_subjects.people()],
        "diffprivlib": [*numbers, *audit_subjects.columns()],
        "smartnoise": audit_subjects.queries(),
        "opacus": audit_subjects.trainings(),
    }


def _known(peer: str, subject: dict[str, Any]) -> str | None:
    """Return the report that a subject falls under, if there is one."""
    kind = subject["kind"]
    special = {
        "bins": subject.get("way") == "bins",
        "changed": kind == "rows" and subject.get("by") and subject.get("changed", 1) > 1 and subject["low"] < 0,
        "redefined": bool(subject.get("redefined")) and subject.get("groups", 1) > 1,
        "low": subject.get("low") == 0 and kind == "regression",
        "given": kind in ("sum", "mean") and not subject["given"],
    }
    group = "column" if kind in ("sum", "mean") else kind
    return next(
        (KNOWN[peer, group, name] for name, holds in special.items() if holds and (peer, group, name) in KNOWN), None
    )


def _judged(known: str | None) -> Bar:
    """Say what was found; a bar is kept where what was known is found."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        found: dict[str, Any] = ours.values
        if "refused" in found:
            return Verdict(f"it refuses ({_version(found)})", known or "", passed=known is None)
        return Verdict(f"{_figure(found)} ({_version(found)})", known or "", passed=known is None or found["refuted"])

    return judge


def _version(found: dict[str, Any]) -> str:
    return ", ".join(f"{name} {number}" for name, number in found["of"].items())


def _figure(found: dict[str, Any]) -> str:
    verdict = "refuted" if found["refuted"] else "not refuted"
    if "broken" in found:
        return f"{verdict}, {len(found['broken'])} laws broken, {found['draws']:,} prices"
    after = f" after {found['draws_to_refute']:,} draws" if found["draws_to_refute"] else f", {found['draws']:,} draws"
    at = f" at δ = {found['delta']:.1g}" if found["delta"] else ""
    return f"claimed {found['promised']:.3g}, measured ≥ {found['epsilon']:.3g}{at}: {verdict}{after}"
