"""Where the graphs, genotypes and tables lie; they are no part of this repository."""

from __future__ import annotations

import os
from pathlib import Path

_DATA = Path(os.environ.get("SORDINO_BENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))
GRAPHS, GENOTYPES, TABLES = _DATA / "graphs", _DATA / "genomics", _DATA / "tabular"
