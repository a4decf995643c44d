"""What is trained side by side: three models on made-up data of usual sizes, and examples that want to escape clipping.

Every side imports this file, so it knows nothing but torch.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

THREADS = 2
CLASSES = 10


def convolutions() -> nn.Module:
    """Return the network of Abadi et al. 2016 for images of 28 × 28, as Opacus' examples have it."""
    first = (nn.Conv2d(1, 16, 8, 2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1))
    second = (nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1))
    return nn.Sequential(*first, *second, nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, CLASSES))


def layers() -> nn.Module:
    """Return a plain network 784-1024-1024-10."""
    hidden = (nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU())
    return nn.Sequential(nn.Flatten(), *hidden, nn.Linear(1024, CLASSES))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, values: Tensor) -> Tensor:
        parts = self.into(self.first(values)).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        found = F.scaled_dot_product_attention(*parts, is_causal=True).transpose(1, 2).flatten(2)
        values = values + self.out(found)
        return values + self.down(F.gelu(self.up(self.second(values))))


class Transformer(nn.Module):
    """Four blocks of width 256 over 128 words."""

    def __init__(self, words: int = 1000, width: int = 256, blocks: int = 4, length: int = 128) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width, 4) for _ in range(blocks)])
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, CLASSES)

    def forward(self, words: Tensor) -> Tensor:
        places = torch.arange(words.shape[1]).expand_as(words).contiguous()
        return self.out(self.norm(self.blocks(self.words(words) + self.places(places))).mean(1))


@dataclass(frozen=True)
class Task:
    """A model, its batch, and how many examples there are."""

    model: Callable[[], nn.Module]
    batch: int
    size: int
    steps: int
    """How many steps are timed together."""

    def data(self) -> tuple[Tensor, Tensor]:
        """Return made-up inputs and targets."""
        torch.manual_seed(0)
        targets = torch.randint(0, CLASSES, (self.size,))
        if self.model is Transformer:
            return torch.randint(0, 1000, (self.size, 128)), targets
        return torch.randn(self.size, 1, 28, 28), targets


TASKS = {
    "CNN": Task(convolutions, 512, 60_000, 4),
    "MLP": Task(layers, 512, 60_000, 4),
    "transformer": Task(Transformer, 64, 6_400, 1),
}

_processor: dict[str, list[float]] = {}


def timed(name: str, steps: int, step: Callable[[], None]) -> tuple[float, int, dict[str, Any]]:
    """Return the seconds of some steps; and, as the median of all calls so far, processor time for each."""
    started, processor = time.perf_counter(), time.process_time()
    for _ in range(steps):
        step()
    seconds = time.perf_counter() - started
    _processor.setdefault(name, []).append((time.process_time() - processor) / steps)
    return seconds, steps, {"processor": statistics.median(_processor[name])}


def peak_growth(run: Callable[[], None]) -> int:
    """Return by how many bytes the process grows at most while `run` runs: resident memory, as Linux counts it."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from here
    before = _resident("VmRSS")
    run()
    return _resident("VmHWM") - before


def _resident(what: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(what))


TINY = Task(lambda: nn.Sequential(nn.Conv2d(1, 2, 5, 5), nn.Flatten(), nn.Linear(50, CLASSES)), 8, 64, 1)
"""What is trained first where memory is measured, so that libraries are loaded and are not counted."""


class Cancelling(nn.Module):
    """Output gradients that sum to zero over a sequence: what is common to all positions cancels in the gradient."""

    def __init__(self, seed: int, length: int = 8, size: int = 16, outputs: int = 4) -> None:
        super().__init__()
        torch.manual_seed(seed)
        fixed = torch.randn(length, outputs)
        self.fixed = 10 * (fixed - fixed.mean(0))
        self.layer = nn.Linear(size, outputs, bias=False)

    def forward(self, values: Tensor) -> Tensor:
        found = (self.layer(values) * self.fixed).sum((1, 2))
        return torch.stack([found, -found], 1)


def cancelling(common: float, seed: int) -> tuple[Cancelling, Tensor, Tensor]:
    """Return a model, an example with a large common part beside one of zeros, and labels that the model gets wrong."""
    model = Cancelling(seed)
    way = torch.randn(16)
    inputs = (common * way / way.norm() + torch.randn(8, 16))[None].repeat(2, 1, 1)
    inputs[1] = 0
    with torch.no_grad():
        wrong = model(inputs)[:, 0] > 0
    return model, inputs, wrong.long()


def column() -> tuple[nn.Module, Tensor, Tensor]:
    """Return a model of one output, an example far off and one of zeros, with targets of shape (2, 1)."""
    torch.manual_seed(0)
    return nn.Linear(3, 1), torch.tensor([[100.0] * 3, [0.0] * 3]), torch.tensor([[1e4], [0.0]])
