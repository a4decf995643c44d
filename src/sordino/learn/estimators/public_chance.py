"""Choices that no row has a say in: first centres, the splits of random trees. They are public, so a seed may fix them.

Noise never comes from here (it comes from ``sordino.noise``, which takes no seed).
"""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

from sordino import noise


def public_chance(random_state: Any) -> Any:
    """Return a source of public choices: that of the seed given, or one that nobody can foresee."""
    return check_random_state(int(noise.uniform(2**32)) if random_state is None else random_state)
