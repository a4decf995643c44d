"""Chance that torch draws by itself while a step sees data: dropout, and what views of examples are made by.

How often torch is asked for a draw depends on how many units came. From a seed that somebody knows, whoever comes or
goes would shift the draws of all others, and move their gradients; and what torch draws after the step would tell how
many there were. So every step begins with a seed that nobody knows, and torch's generator is put back after it.

**Guarantee**: torch's generator is after the step what it was before, and the step's draws depend on neither.
**Assumes**: torch's generator stands for independent draws, as others' draws then have the same distribution without
one unit. What draws by another generator (NumPy's, Python's) is the model's or the view's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from sordino.noise import uniform


@contextmanager
def own_chance() -> Iterator[None]:
    """Let torch draw from a fresh seed, and put its generator back."""
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(uniform(2**63))
        yield
