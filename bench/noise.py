"""Noise: a million integer samples against OpenDP (exact, per sample) and NumPy (unsafe, the speed to reach)."""

from __future__ import annotations

from measure import Bar, Call, Case, at_most_times, times_faster

SAMPLES = 1_000_000
PEER_SAMPLES = 20_000  # OpenDP takes 9 to 25 µs for each, so a million would take most of a minute; its time is linear
SCALES = (1, 10, 1_000, 1_000_000)
LARGE_SCALE = 2**40


def cases() -> list[Case]:
    """Return the cases of this room."""
    found = []
    for law in ("laplace", "gaussian"):
        for scale in SCALES:
            found.append(_against("opendp", law, scale, PEER_SAMPLES, times_faster(100)))
            found.append(_against("numpy", law, scale, SAMPLES, at_most_times(2)))
        found.append(_against("numpy", law, LARGE_SCALE, SAMPLES, at_most_times(6)))
    found.append(_against("numpy", "rounded_gaussian", 1_000, SAMPLES, at_most_times(2)))
    return found


def _against(peer: str, law: str, scale: int, peer_size: int, bar: Bar) -> Case:
    theirs = "gaussian" if law == "rounded_gaussian" else law
    return Case(
        what=f"{law.replace('_', ' ')}, scale {_short(scale)}",
        ours=Call("sordino", law, {"scale": scale, "size": SAMPLES}),
        theirs=Call(peer, theirs, {"scale": float(scale), "size": peer_size}),
        bar=bar,
    )


def _short(scale: int) -> str:
    return "2⁴⁰" if scale == LARGE_SCALE else f"{scale:,}"
