"""Audit: draws that it takes to refute a false claim, beside others' tests; and how close true claims are measured."""

from __future__ import annotations

from audit_bars import at_most_draws, measured_between
from measure import Call, Case

NOTES = """\
Laplace noise with 20 % too little scale (0.8 for a claimed ε = 1, neighbours 1 and 0), refuted with a chance of error
of one in a million. Figures are outputs drawn on each side until the claim is refuted, search and training included,
medians over seeds, ours : theirs = ratio. *dp_sniper*: a logistic classifier is trained on half of the draws, the event
with probability c (the best of three, in both directions) is measured on the other half by Clopper–Pearson bounds at
the same total chance, and all draws are doubled until it refutes (Bichsel, Steffen, Bogunovic, Vechev 2021).
*hockey_stick*: the tester of dp_auditorium, which is not published as a package and needs TensorFlow, so its test is
written after the paper and given the best classifier there is for nothing: half of the draws count as training, the
other half is judged by Hoeffding's inequality (Kong, Medina, Ribero, Syed 2023); a trained one needs more.
About half of the peers' draws are those of the last round, so whoever knew the right number beforehand would need half.
True claims: the bound on ε holds with 99 %; it must reach 0.85 of the claimed 1, not pass it, and take a minute at
most.
"""
"""What the page of documentation says above this room's table."""

SEEDS = 41


def cases() -> list[Case]:
    """Return the cases of this room."""
    ours = Call("sordino_audit", "draws_to_refute", {"scale": 0.8, "epsilon": 1.0, "seeds": SEEDS})
    what = "Laplace with 20 % too little noise, draws to refute"
    found = [
        Case(
            what,
            ours,
            Call(peer, "draws_to_refute", {"scale": 0.8, "epsilon": 1.0, "seeds": SEEDS}),
            at_most_draws(0.5),
            repeats=1,
            fresh=True,
        )
        for peer in ("dp_sniper", "hockey_stick")
    ]
    for mechanism, draws in (
        ("laplace", 200_000),
        ("randomized_response", 200_000),
        ("gaussian, δ = 0.01", 1_000_000),
        ("gaussian, δ = 1e-5", 200_000_000),
    ):
        call = Call("sordino_audit", "measured", {"mechanism": mechanism, "draws": draws})
        what = f"correct {mechanism.replace('_', ' ')} at ε = 1, measured by {draws:,} draws"
        found.append(Case(what, call, None, measured_between(0.85, 1.0, 60), repeats=3, fresh=True))
    return found
