"""Where the graphs and genotypes lie; they are no part of this repository."""

from __future__ import annotations

import os
from pathlib import Path

_DATA = Path(os.environ.get("SORDINO_BENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))
GRAPHS, GENOTYPES = _DATA / "graphs", _DATA / "genomics"
