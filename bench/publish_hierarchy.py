"""Hierarchies: the 242,335 block groups of the United States up to the states, with 64 cells each."""

from __future__ import annotations

from measure import Call, Case, Measured, Verdict
from place_data import MISSING as MISSING
from place_data import are_there

NOTES = """\
Block groups of the census of 2020 with their populations, tracts, counties, states; 2 × 4 × 8 cells, over which people
are spread by a fixed rule. ρ = 2.56, shared 1440 : 447 : 687 : 1256 from the state down, and 1 : 2 : 2 : 5 among
totals, 2 × 4, 8 and cells. Errors are root mean squares over all places and cells of a level, as multiples of the
deviation of the noise that this query gets on this level; coverage is below the states, of which there are few. The
whole country is the noise, the mathematics and the files, on counts that are at hand: 331 million rows are not counted
by an engine here. Rhode Island is the whole recipe: a row for each of 1,097,379 people, counted, charged, released.
"""
"""What the page of documentation says above this room's table."""

UNBIASED, WHOLE, COVERED = 0.92, 0.97, (0.94, 0.97)
SECONDS, MEMORY = 120.0, 4 * 2**30


def cases() -> list[Case]:
    """Return the cases of this room; none where the places are missing."""
    if not are_there():
        return []
    country = Call("sordino_hierarchy", "country")
    state = Call("sordino_hierarchy", "state", {"runs": 5})
    return [
        Case("242,335 block groups × 64 cells, from counts to files", country, None, _kept, repeats=1, fresh=True),
        Case("Rhode Island, from 1,097,379 rows to files", state, None, _as_priced, repeats=1, fresh=True),
    ]


def _kept(ours: Measured, _theirs: Measured | None) -> Verdict:
    seen = ours.values
    figure = (
        f"unbiased ≤ {seen['unbiased']:.3f} ×; whole ≤ {seen['whole']:.3f} × (totals {seen['totals']:.3f} ×); "
        f"intervals cover {seen['least covered']:.1%} to {seen['most covered']:.1%}; "
        f"sums off by {seen['sums off']:.0f}; "
        f"{ours.seconds:.0f} s ({seen['processor seconds']:.0f} s of one processor), {seen['memory'] / 2**30:.2f} GiB"
    )
    bar = f"≤ {UNBIASED} ×, ≤ {WHOLE} × below the state, 94–97 %, exact sums, ≤ {SECONDS:.0f} s, ≤ 4 GiB"
    passed = (
        seen["unbiased"] <= UNBIASED
        and seen["whole"] <= WHOLE
        and COVERED[0] <= seen["least covered"]
        and seen["most covered"] <= COVERED[1]
        and not seen["sums off"]
        and ours.seconds <= SECONDS
        and seen["memory"] <= MEMORY
    )
    return Verdict(figure, bar, passed)


def _as_priced(ours: Measured, _theirs: Measured | None) -> Verdict:
    seen = ours.values
    figure = (
        f"errors {seen['least of price']:.3f} to {seen['most of price']:.3f} × the price; "
        f"whole ≤ {seen['whole']:.3f} × the noise; {seen['covered']:.1%} covered; "
        f"sums off by {seen['sums off']:.0f}; {ours.seconds:.1f} s a run"
    )
    passed = (
        seen["least of price"] >= 0.9
        and seen["most of price"] <= 1.1
        and COVERED[0] <= seen["covered"] <= COVERED[1]
        and not seen["sums off"]
    )
    return Verdict(figure, "within 10 % of the price, 94–97 %, exact sums", passed)
