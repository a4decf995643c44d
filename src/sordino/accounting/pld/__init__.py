"""Privacy loss distributions: what a composition costs, bracketed between two proven values.

A floor plan, from the ground up: ``grid`` and ``sketch`` (losses on a grid) · ``compose`` (their convolution, with a
bound on every rounding) · ``bounds`` and ``analytic`` (from a distribution to ε and δ) · ``run`` (refine until the
bracket is narrow) · ``accountant`` (from events to a bracket).
"""

from __future__ import annotations

from .accountant import Bracket, delta, delta_bracket, epsilon, epsilon_bracket

__all__ = ["Bracket", "delta", "delta_bracket", "epsilon", "epsilon_bracket"]
