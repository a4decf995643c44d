"""Checks that every mechanism passes, and anyone else's can be put to: ``check_mechanism(Case(…))``.

``case`` (what is judged) · ``prices``, ``draws``, ``contract`` (the checks) · ``suite`` (all of them by name).
"""

from __future__ import annotations

from .suite import CHECKS, Case, FailedCheckError, audit, check_mechanism, checks

__all__ = ["CHECKS", "Case", "FailedCheckError", "audit", "check_mechanism", "checks"]
