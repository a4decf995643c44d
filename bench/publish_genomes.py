"""Genomes: sites that tell cases from controls, the Homer attack on what was published, frequencies as priced."""

from __future__ import annotations

from measure import Bar, Call, Case, Measured, Verdict
from publication_data import GENOTYPES

NOTES = """\
1000 Genomes, phase 1, thinned: 1,092 people, 14,079 sites. Ten phenotypes of ten planted sites each (heritability 0.9),
half of the people cases; of the ten sites of largest exact χ², how many are found, mean of 5 runs for each phenotype;
beside it χ² with Laplace noise, taken one after the other at the same ε. The attack is `so.audit`'s likelihood ratio on
all frequencies of 20 random studies of 50, with 350 others as its reference; rates are pooled, and the excess over what
ε allows is told in standard errors. Frequencies as priced: 50 people, one replaced by another, 1,000 runs.
"""
"""What the page of documentation says above this room's table."""

MISSING = (
    "as the genotypes are not there: set SORDINO_BENCH_DATA to the folder that has genomics/1kg_phase1_thinned.bed"
)
SIDE = "sordino_genomes"
MEMBERS = 50


def cases() -> list[Case]:
    """Return the cases of this room; none where the genotypes are missing."""
    if not (GENOTYPES / "1kg_phase1_thinned.bed").exists():
        return []
    found = []
    for epsilon, least in (("5", 0.75), ("2", 0.40)):
        asked = {"epsilon": epsilon, "phenotypes": 10, "runs": 5}
        found.append(_case(f"of the exact top 10, ε = {epsilon}", "found_sites", asked, _found(least)))
    for epsilon in (None, "1", "5", "10"):
        asked = {"epsilon": epsilon, "studies": 20, "members": MEMBERS}
        what = "Homer attack, raw" if epsilon is None else f"Homer attack, ε = {epsilon}"
        found.append(_case(what, "attacked", asked, _attacked(epsilon)))
    for epsilon in ("1", "5", "10"):
        asked = {"epsilon": epsilon, "runs": 1000, "members": MEMBERS}
        found.append(_case(f"frequencies of the sites that fit ± 0.05, ε = {epsilon}", "as_offered", asked, _as_priced))
    return found


def _case(what: str, function: str, asked: dict[str, object], bar: Bar) -> Case:
    return Case(what, Call(SIDE, function, asked), None, bar, repeats=1, fresh=True)


def _found(least: float) -> Bar:
    def judge(ours: Measured, _: Measured | None) -> Verdict:
        share, peer = ours.values["share"], ours.values["peer"]
        figure = f"{100 * share:.0f} % found; noisy χ² {100 * peer:.1f} %"
        return Verdict(figure, f"≥ {100 * least:.0f} %; noisy χ² ≤ 2 %", share >= least and peer <= 0.02)

    return judge


def _attacked(epsilon: str | None) -> Bar:
    def judge(ours: Measured, _: Measured | None) -> Verdict:
        auc, above = ours.values["auc"], ours.values["above"]
        if epsilon is None:
            return Verdict(f"AUC {auc:.3f}", "AUC ≥ 0.95", auc >= 0.95)
        bar = "within what ε allows" if epsilon != "1" else "AUC ≤ 0.6, within what ε allows"
        within = above <= 3 and (epsilon != "1" or auc <= 0.6)
        return Verdict(f"AUC {auc:.3f}, at most {above:+.1f} standard errors", bar, within)

    return judge


def _as_priced(ours: Measured, _: Measured | None) -> Verdict:
    seen = ours.values
    figure = f"{seen['sites']:.0f} sites, ± {seen['promised']:.4f} said, {seen['ratio']:.3f} × seen"
    return Verdict(figure, "within 5 %, ± 0.05 at most", abs(seen["ratio"] - 1) <= 0.05 and seen["promised"] <= 0.05)
