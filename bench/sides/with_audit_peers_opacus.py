"""Opacus as it is, drawn from for an audit: trainings of a tiny model, with and without one canary.

The claim is the ε that its own accountant says at δ = 0.05, where few trainings can show something.
"""

from __future__ import annotations

import warnings
from importlib.metadata import version
from time import perf_counter
from typing import Any

import torch

warnings.filterwarnings("ignore")
from opacus import PrivacyEngine  # noqa: E402

DELTA = 0.05
OTHERS = 7


def versions() -> dict[str, str]:
    return {"opacus": version("opacus"), "torch": torch.__version__}


def describe(subject: dict[str, Any]) -> tuple[float, int, dict[str, Any]]:
    _, epsilon = _train(subject, canary=True)
    return 0.0, 1, {"epsilon": epsilon, "delta": DELTA}


def draw(subject: dict[str, Any], value: int, draws: int) -> tuple[float, int, dict[str, Any]]:
    started = perf_counter()
    outputs = [_train(subject, canary=bool(value))[0] for _ in range(draws)]
    return perf_counter() - started, draws, {"outputs": outputs}


def _train(subject: dict[str, Any], *, canary: bool) -> tuple[float, float]:
    """Return the weight along the canary's direction after one step on all data, and the ε that Opacus says of it."""
    features = torch.zeros(OTHERS + canary, 2)
    features[:OTHERS, 0] = 1.0
    if canary:
        features[OTHERS, 1] = 100.0
    data = torch.utils.data.TensorDataset(features, torch.ones(len(features), 1))
    loader = torch.utils.data.DataLoader(data, batch_size=len(features))
    model = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    engine = PrivacyEngine(accountant="rdp")
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=optimizer,
        data_loader=loader,
        noise_multiplier=subject["noise"],
        max_grad_norm=1.0,
        loss_reduction="sum",
    )
    for inputs, targets in loader:
        optimizer.zero_grad()
        ((model(inputs) - targets) ** 2).sum().backward()
        optimizer.step()
    return float(model._module.weight.detach()[0, 1]), float(engine.get_epsilon(DELTA))
