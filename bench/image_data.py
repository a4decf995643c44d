"""Where the images of MNIST and Fashion-MNIST lie; they are no part of this repository."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("SORDINO_BENCH_DATA", Path(__file__).parents[2] / "shared" / "data")) / "images"
MISSING = (
    "as the images are not there: set SORDINO_BENCH_DATA to the folder that has images/mnist_train.npz and the others"
)


def are_there() -> bool:
    """Return whether the images can be read."""
    return (DATA / "mnist_train.npz").exists()
