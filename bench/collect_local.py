"""Local reports: how fast they are made and counted, how far off estimates are, and what liars can do."""

from __future__ import annotations

from measure import Bar, Call, Case, Measured, Verdict, at_most_seconds, times_faster

NOTES = """\
Randomize: 10⁶ values of 1,000 at ε = 1, seconds for one value. The peers answer fewer values one by one, as their own
code does; the bar is held against each of pure-ldp and multi-freq-ldpy, so against the faster. Squared error: of all
values, against the formula, until 3 standard errors are below 3 %; intervals at 95 %; a Zipf law of people, so many
that more than a dozen reports lie about each value. Poison: 1 % of clients send what supports one value, or never does.
"""
RANDOMIZE = {"people": 10**6, "domain": 1000, "epsilon": 1.0}
PEERS = (
    ("k-ary", "k-ary response", 8.0, ("pure_ldp", "multi_freq_ldpy")),
    ("unary", "optimised unary", 20.0, ("pure_ldp", "multi_freq_ldpy")),
    ("unary-symmetric", "symmetric unary", 20.0, ("pure_ldp", "multi_freq_ldpy")),
    ("hadamard", "Hadamard response", 100.0, ("pure_ldp",)),
)
WAYS = ("k-ary", "unary", "unary-symmetric", "hadamard", "hashing", "hashing-fast", "subset")
MORE_WAYS = ("projective-geometry", "count-mean-sketch", "hadamard-count-mean-sketch")
"""Measured by the room of words; what liars can do is measured here."""
DOMAINS = (2, 10, 1000, 10**5)
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)


def cases() -> list[Case]:
    """Return the cases of this room."""
    found = [
        Case(
            f"randomize 1,000 values, {title}, against {peer}",
            Call("sordino_collect", "randomize", {"way": way, **RANDOMIZE}),
            Call(peer, "randomize", {"way": way, "people": 20_000, "domain": 1000, "epsilon": 1.0}),
            times_faster(least),
            repeats=3,
        )
        for way, title, least, peers in PEERS
        for peer in peers
    ]
    found += [_alone(f"randomize 1,000 values, {way}", "randomize", way, at_most_seconds(0.3e-6)) for way in WAYS[4:6]]
    found += [_error(way, domain) for way in WAYS for domain in DOMAINS]
    found += [_poison(way) for way in (*WAYS, *MORE_WAYS)]
    found.append(
        Case("the choice against the best of all", Call("sordino_collect", "choice", {}), None, at_most(1.02), 1)
    )
    return found


def _alone(what: str, function: str, way: str, bar: Bar) -> Case:
    return Case(what, Call("sordino_collect", function, {"way": way, **RANDOMIZE}), None, bar, repeats=3)


def _error(way: str, domain: int) -> Case:
    asked = {"way": way, "domain": domain, "epsilons": EPSILONS}
    return Case(
        f"squared error and intervals, {way}, {domain:,} values, ε 0.5 … 8",
        Call("sordino_collect", "errors", asked),
        None,
        as_told,
        repeats=1,
        fresh=True,
    )


def _poison(way: str) -> Case:
    asked = {"way": way, "domain": 1000, "epsilon": 1.0, "people": 10_000}
    return Case(f"1 % of clients lie, {way}", Call("sordino_collect", "poison", asked), None, _reached, 1)


def at_most(most: float) -> Bar:
    """The largest of our values is at most so much."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        return Verdict(f"{ours.values['value']:.4f} at worst", f"≤ {most:g}", ours.values["value"] <= most)

    return judge


def as_told(ours: Measured, _theirs: Measured | None) -> Verdict:
    """Squared errors are within 3 % of theory, three standard errors are below that, and intervals cover."""
    low, high = ours.values["least"], ours.values["most"]
    covered = ours.values["least_covered"], ours.values["most_covered"]
    told = f"{low:.3f} – {high:.3f} of theory (3 standard errors: {ours.values['slack']:.3f}); "
    told += f"cover {100 * covered[0]:.1f} – {100 * covered[1]:.1f} %"
    passed = low >= 0.97 and high <= 1.03 and ours.values["slack"] <= 0.03
    return Verdict(told, "0.97 – 1.03; 93 – 97 %", passed and covered[0] >= 0.93 and covered[1] <= 0.97)


def _reached(ours: Measured, _theirs: Measured | None) -> Verdict:
    part = ours.values["value"]
    return Verdict(f"{part:.4f} of the bound", "0.8 – 1", 0.8 <= part <= 1 + 1e-9)
