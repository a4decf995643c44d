"""Sketches, projective geometry, words that nobody listed, and a thousand days of the same question."""

from __future__ import annotations

from collect_local import DOMAINS, EPSILONS, as_told
from measure import Bar, Call, Case, Measured, Verdict, at_most_seconds, information

NOTES = """\
Randomize: 10⁶ values of 1,000 at ε = 1, seconds for one value; of the peers some crash here and the others have no such
protocol, so the bar is a time. Squared error: of all values, against the formula (for sketches with what shared cells
add, over salts; of 16 functions where there are at most ten values), until 3 standard errors are below 3 %; intervals
at 95 %; 1,000 people, evenly spread. Words: 10⁵ words of up to 8 random letters, Zipf 1, 10⁶ people, ε = 4, F1 of the
top 20, mean of five populations. A thousand days: 20,000 devices with one value and 20,000 with another, attacked with
all their reports; the lower bound of ε at 99.9 %, against what is stated. Memory off: k-ary response, ten values, ε = 1
a day.
"""
"""What the page of documentation says above this room's table."""

WAYS = ("count-mean-sketch", "hadamard-count-mean-sketch", "projective-geometry")


def cases() -> list[Case]:
    """Return the cases of this room."""
    asked = {"people": 10**6, "domain": 1000, "epsilon": 1.0}
    found = [
        Case(
            f"randomize 1,000 values, {way}",
            Call("sordino_words", "randomize", {"way": way, **asked}),
            None,
            information if way == "projective-geometry" else at_most_seconds(0.3e-6),
            repeats=3,
        )
        for way in WAYS
    ]
    found += [
        Case(
            f"squared error and intervals, {way}, {domain:,} values, ε 0.5 … 8",
            Call("sordino_words", "errors", {"way": way, "domain": domain, "epsilons": EPSILONS}),
            None,
            as_told,
            repeats=1,
            fresh=True,
        )
        for way in WAYS
        for domain in DOMAINS
    ]
    found.append(Case("words nobody listed", Call("sordino_words", "words", {"runs": 5}), None, _least("f1", 0.85), 1))
    found += [
        Case(
            f"1,000 days, {changes} changes: audited ε",
            Call("sordino_words", "days", {"changes": changes}),
            None,
            _within,
            repeats=1,
        )
        for changes in (0, 5)
    ]
    off = Call("sordino_words", "unremembered", {})
    found.append(Case("1,000 days without memory", off, None, _least("found", 0.99), 1))
    return found


def _least(name: str, least: float) -> Bar:
    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        return Verdict(f"{name} {ours.values[name]:.3f}", f"≥ {least}", ours.values[name] >= least)

    return judge


def _within(ours: Measured, _theirs: Measured | None) -> Verdict:
    measured, stated = ours.values["measured"], ours.values["stated"]
    return Verdict(f"ε ≥ {measured:.3f}", f"≤ {stated:g}, and > half of it", stated / 2 < measured <= stated)
