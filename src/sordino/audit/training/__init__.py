"""Audits of training: one run with many canaries, or many runs with shadow models.

``canaries``         gradients along a parameter of their own (white box), rows with wrong labels (black box)
``one_run``          throw a coin for each canary, train once, guess the coins
``guessing``         what so many right guesses say of (ε, δ): Steinke, Nasr, Jagielski 2023
``guessing_curve``   what they say of a whole trade-off curve, with its proof: Mahloujifar, Melis, Chaudhuri 2024
``many_runs``        train often, with one canary and without, and tell the two apart
``training_audit``   what was found: a bound on ε, one on μ, a verdict

Membership inference on finished models is an attack, so it lives in ``sordino.audit.attacks.models``.
"""
