"""Streams: how far off a running count of a million steps is, against binary trees, and what a batch takes."""

from __future__ import annotations

from measure import Call, Case, Measured, Verdict

NOTES = """\
A running count of 10⁶ steps at one ρ for all of it. Errors are the largest standard deviation of any step and the root
mean square over all steps, from the laws of the noise; beside them what real streams of the same length were off by,
in 8 copies, in batches of 1,000. The trees are this library's own: Honaker's weights are applied from below. Time is
for a batch of 1,000 steps, noise included, without the synced file and the ledger's entry that come beside; the peer is
the noise alone.
"""
"""What the page of documentation says above this room's table."""

STEPS, BATCH, RHO = 10**6, 1_000, "0.01"
LARGEST = {"tree": 0.29, "weighted-tree": 0.39}
MEAN = {"tree": 0.39, "weighted-tree": 0.53}
STATE = 64 * 1024


def cases() -> list[Case]:
    """Return the cases of this room."""
    found = [_against(peer) for peer in LARGEST]
    shared = {"steps": STEPS, "batch": BATCH, "rho": RHO}
    batch, noise = (Call("sordino_streams", name, shared) for name in ("batches", "noise"))
    found.append(Case("a batch of 1,000 of 10⁶ steps, against its noise", batch, noise, _quick))
    file = Call("sordino_streams", "kept", shared)
    found.append(Case("what is kept between batches of 1,000", file, None, _small, repeats=1))
    return found


def _against(peer: str) -> Case:
    ours, theirs = (
        Call("sordino_streams", "errors", {"steps": STEPS, "batch": BATCH, "rho": RHO, "strategy": strategy})
        for strategy in ("buffered", peer)
    )

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        largest, mean, seen, seen_mean = (
            ours.values[name] / theirs.values[name] for name in ("largest", "mean", "seen", "seen_mean")
        )
        figure = (
            f"largest {largest:.3f} ×, root mean square {mean:.3f} × (seen: {seen:.2f} ×, {seen_mean:.2f} ×; "
            f"{ours.values['largest']:.1f} against {theirs.values['largest']:.1f})"
        )
        bar = f"≤ {LARGEST[peer]} × and ≤ {MEAN[peer]} ×"
        return Verdict(figure, bar, largest <= LARGEST[peer] and mean <= MEAN[peer])

    name = "Honaker's tree" if peer == "weighted-tree" else "the binary tree"
    return Case(f"errors of 10⁶ steps against {name}", ours, theirs, judge, repeats=1)


def _quick(ours: Measured, theirs: Measured | None) -> Verdict:
    assert theirs is not None
    ratio = ours.seconds / theirs.seconds
    figure = f"{1e6 * ours.seconds:.0f} µs, {ratio:.2f} × the noise"
    return Verdict(figure, "≤ 3 × the noise", ratio <= 3)


def _small(ours: Measured, _theirs: Measured | None) -> Verdict:
    size = ours.values["bytes"]
    return Verdict(f"{size / 1024:.1f} KiB, the release that waits included", "≤ 64 KiB", size <= STATE)
