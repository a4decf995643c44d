"""What shuffled reports cost, by their randomizer: against bars, against exact pairs, and how long a price takes."""

from __future__ import annotations

from measure import Call, Case, Measured, Verdict, duration

NOTES = """\
ε at δ = 10⁻⁶ of all reports in random order, for one person's value replaced, whatever the others hold. Beside it the
ε of one pair: others all hold the same (k-ary of two values: one of the two; else a third), and what is seen of them is
counted without bounds or transforms; no right claim can be below. For bits only those of the two values are looked at,
for any randomizer the pair is k-ary response over three values. Time is for one price in a new process.
"""
"""What the page of documentation says above this room's table."""

SECONDS = 10.0
BARS: tuple[tuple[str, str, int, dict[tuple[int, int], float | None]], ...] = (
    ("k-ary response, 2 values", "k-ary", 2, {(10**4, 1): 0.0357, (10**5, 4): 0.0848}),
    ("k-ary response, 10 values", "k-ary", 10, {(10**4, 1): 0.0240, (10**5, 4): 0.114}),
    ("k-ary response, 1,000 values", "k-ary", 1000, {(10**4, 1): None, (10**5, 4): 0.0275}),
    ("optimised unary", "unary", 1000, {(10**4, 1): 0.0302, (10**5, 4): 0.0841}),
    ("symmetric unary", "unary-symmetric", 1000, {(10**4, 1): None, (10**5, 4): None}),
    ("any randomizer", "any", 0, {(10**4, 1): 0.0433, (10**5, 4): 0.1182}),
)
"""Randomizers, and the most that may be claimed by reports and ε₀; None: shown, and only held against the pair."""


def cases() -> list[Case]:
    """Return the cases of this room."""
    return [
        _case(title, {"way": way, "values": values, "epsilon": local, "reports": reports}, most)
        for title, way, values, settings in BARS
        for (reports, local), most in settings.items()
    ]


def _case(title: str, asked: dict[str, object], most: float | None) -> Case:
    def judge(ours: Measured, _: Measured | None) -> Verdict:
        claimed, pair = ours.values["claimed"], ours.values["pair"]
        figure = f"{claimed:.5f}, the pair {pair:.5f}; {duration(ours.seconds)}"
        bar = f"{'' if most is None else f'≤ {most:g}, '}≥ the pair, ≤ {duration(SECONDS)}"
        passed = pair <= claimed and ours.seconds <= SECONDS and (most is None or claimed <= most)
        return Verdict(figure, bar, passed)

    name = f"{title}: {asked['reports']:,} reports, ε₀ = {asked['epsilon']}"
    return Case(name, Call("sordino_shuffle", "price", asked), None, judge, repeats=1, fresh=True)
