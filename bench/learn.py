"""Learning: steps against plain PyTorch and Opacus, memory, examples that want to escape clipping, the ledger."""

from __future__ import annotations

from measure import Bar, Call, Case, Measured, Verdict

NOTES = """\
Two threads; steps of the sides alternate. The network is that of Abadi et al. 2016 at batch 512, the MLP
784-1024-1024-10 at 512, the transformer 4 blocks of width 256 over 128 words at 64. "Clipped" is the clipped sum of
a batch of that very size and the optimizer's step; a "whole step" draws a Poisson sample of that size on average,
clips, adds exact noise and moves the weights, with every default. Opacus runs in the fastest of its modes, on batches
of fixed size, with its own noise (not the secure one). In brackets: the same ratio of processor time. Memory is the
peak of resident memory above what the process had with libraries and data loaded, in fresh processes of ten steps each
(two of the transformer), all that is tried before the first step included. Examples that want to escape: what is common
to all positions of a sequence, 10³ to 10⁶ times the rest, cancels in the gradient; and mean squared error with targets
of shape (B, 1), which sordino refuses until it is one number for each example. Shown is how far one example moves a sum
clipped to 1, in units of what it may.
"""
"""What the page of documentation says above this room's table."""

MODELS = ("CNN", "MLP", "transformer")
CLIPPED = {"CNN": 1.5, "MLP": 1.15, "transformer": 1.25}
WHOLE = {"CNN": 1.6, "MLP": 1.8, "transformer": 1.35}
FASTER = {"CNN": 1.0, "MLP": 1.3, "transformer": 1.3}
REPEATS = {"CNN": 41, "MLP": 41, "transformer": 11}
STEPS = {"CNN": 10, "MLP": 10, "transformer": 2}
COMMON = [1e3, 1e4, 1e5, 1e6]


def cases() -> list[Case]:
    """Return the cases of this room."""
    found = [_steps(f"{name}: clipped", name, "clipped", "torch_plain", at_most(CLIPPED[name])) for name in MODELS]
    found += [_steps(f"{name}: whole step", name, "step", "torch_plain", at_most(WHOLE[name])) for name in MODELS]
    found += [_steps(f"{name}: whole step", name, "step", "opacus_learn", faster(FASTER[name])) for name in MODELS]
    found += [
        _case(f"{name}: peak memory", "memory", "torch_plain", memory(1.2), model=name, steps=STEPS[name])
        for name in MODELS
    ]
    found += [
        _case("one example whose norm cancels", "cancelled", "opacus_learn", escapes, commons=COMMON, seeds=10),
        _case("one example of a column's squared error", "columns", "opacus_learn", escapes),
        _case("ledger's growth a tranche", "ledger_growth", None, ledger(10_000), few=4, many=24),
    ]
    return found


def _steps(what: str, model: str, function: str, peer: str, bar: Bar) -> Case:
    ours, theirs = Call("sordino_learn", function, {"model": model}), Call(peer, "step", {"model": model})
    return Case(what, ours, theirs, bar, repeats=REPEATS[model])


def _case(what: str, function: str, peer: str | None, bar: Bar, **arguments: object) -> Case:
    theirs = None if peer is None else Call(peer, function, arguments)
    return Case(what, Call("sordino_learn", function, arguments), theirs, bar, repeats=1, fresh=True)


def _ratios(ours: Measured, theirs: Measured) -> tuple[float, float]:
    return ours.seconds / theirs.seconds, ours.values["processor"] / theirs.values["processor"]


def at_most(limit: float) -> Bar:
    """Ours takes at most `limit` times theirs."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        ratio, processor = _ratios(ours, theirs)
        return Verdict(f"{ratio:.2f} × ({processor:.2f})", f"≤ {limit:g} × the peer", ratio <= limit)

    return judge


def faster(limit: float) -> Bar:
    """Theirs takes at least `limit` times ours."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        ratio, processor = (1 / each for each in _ratios(ours, theirs))
        figure = f"{ratio:.2f} × faster ({processor:.2f}; {theirs.values['mode']})"
        return Verdict(figure, f"≥ {limit:g} × faster", ratio >= limit)

    return judge


def memory(limit: float) -> Bar:
    """Ours takes at most `limit` times their memory."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        mine, peer = ours.values["bytes"], theirs.values["bytes"]
        figure = f"{mine / 2**20:.0f} : {peer / 2**20:.0f} MiB = {mine / peer:.2f} ×"
        return Verdict(figure, f"≤ {limit:g} × the peer", mine <= limit * peer)

    return judge


def escapes(ours: Measured, theirs: Measured | None) -> Verdict:
    """One example moves our sum by no more than it may, and theirs by more: the test can tell."""
    assert theirs is not None
    mine, peer = ours.values["moved"], theirs.values["moved"]
    passed = mine <= 1 < peer and ours.values.get("refused", True)
    return Verdict(f"{mine:.3f} : {peer:,.1f}", "ours ≤ 1; the peer is refuted", passed)


def ledger(limit: float) -> Bar:
    """A tranche takes at most `limit` bytes, whatever the model."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        small, large = ours.values["small"], ours.values["large"]
        figure = f"{small:,.0f} and {large:,.0f} bytes for 7,850 and 1.9 million parameters"
        return Verdict(figure, f"≤ {limit:,.0f} bytes", max(small, large) <= limit)

    return judge
