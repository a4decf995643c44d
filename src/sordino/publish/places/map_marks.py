"""How a cell of a map is shown: its number, zero, uncertain or suppressed. Decided on released numbers alone.

**Guarantee**: marks are post-processing of noisy estimates and of their public standard deviations; the counts have no
say in them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import Number
from sordino.publish.intervals import reach
from sordino.publish.nested import Reals

SHOWN, ZERO, UNCERTAIN, SUPPRESSED = range(4)
WORDS = ("shown", "zero", "uncertain", "suppressed")


@dataclass(frozen=True)
class Rules:
    """When a cell is not simply shown."""

    uncertain: float = 0.5
    """An interval that reaches this share of the estimate, or more, to either side makes a cell uncertain."""
    suppress: float = 0.0
    """Estimates below this, but not zero, are suppressed: their numbers appear nowhere in the picture."""
    confidence: Number = 0.95

    def marks(self, cells: Reals, deviation: Reals) -> NDArray[np.uint8]:
        """Return the mark of each cell.

        Zero are those that round to 0; of the others suppressed are those below the threshold, uncertain those whose
        interval is too wide.
        """
        wide = deviation * reach(self.confidence) >= self.uncertain * cells
        found = np.where(wide, UNCERTAIN, SHOWN)
        found = np.where(cells < self.suppress, SUPPRESSED, found)
        return np.where(cells < 0.5, ZERO, found).astype(np.uint8)

    def legend(self, deviation: Reals) -> dict[str, str]:
        """Return what each mark means, in a sentence."""
        least = float(deviation.min()) * reach(self.confidence)
        sure = f"{float(self.confidence):.4g}"
        found = {
            "shown": f"the estimate; its {sure} interval is narrower than ± {self.uncertain:.0%} of it",
            "zero": f"estimated to be 0; the noise alone is ± {math.ceil(least)} or more",
            "uncertain": f"the {sure} interval is ± {self.uncertain:.0%} of the estimate or wider",
        }
        if self.suppress:
            found["suppressed"] = f"an estimate below {self.suppress:g}, not told"
        return found
