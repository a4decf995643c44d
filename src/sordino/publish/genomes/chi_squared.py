"""The χ² of the two-by-two table of alleles: cases and controls against both alleles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def chi_squared(case_sums: Floats, control_sums: Floats, cases: float, controls: float) -> Floats:
    """Return χ² for sites whose genotypes, counted from −1 to 1, add up so among so many cases and controls.

    Sums beyond what so many people can have are stopped there, so it is defined for noisy ones too.
    """
    cases, controls = max(cases, 1.0), max(controls, 1.0)
    carried = np.clip(np.asarray(case_sums) + cases, 0, 2 * cases)
    other = np.clip(np.asarray(control_sums) + controls, 0, 2 * controls)
    total, both = 2 * (cases + controls), carried + other
    spread = both * (total - both) * 4 * cases * controls
    apart = total * (carried * 2 * controls - other * 2 * cases) ** 2
    return np.where(spread > 0, apart / np.where(spread > 0, spread, 1), 0.0)
