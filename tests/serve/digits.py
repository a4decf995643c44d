"""A small service to train in: made-up digits of three classes, in which one pixel is a canary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from serve.places import OWNER, settings_at
from sordino.serve.keeping.identity import Principal
from sordino.serve.service import Service

PIXELS, CLASSES, COUNT = 6, 3, 300
CANARY = 59183.6171875
DECLARATIONS = f"""
name: digits
sort: examples
unit: row
size: {COUNT}
classes: {CLASSES}
file: digits.npz
features: x
label: y
"""
ANN = Principal("ann", "analyst", frozenset({"digits"}))
BOB = Principal("bob", "analyst", frozenset({"digits"}))
RECIPE: dict[str, Any] = {
    "dataset": "digits",
    "model": {"kind": "mlp", "hidden": [8]},
    "batch": 30,
    "steps": 20,
    "tranche": 5,
    "clip": 1,
    "epsilon": 2,
}
WANTED: dict[str, Any] = {"dataset": "digits", "parts": 30, "answers": 6, "epsilon": 4, "model": "nearest-mean"}


def digits() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    draw = np.random.default_rng(3)
    labels = draw.integers(0, CLASSES, COUNT)
    pixels = draw.normal(0, 1, (COUNT, PIXELS)) + 3 * np.eye(CLASSES, PIXELS)[labels]
    pixels[7, 2] = CANARY
    return pixels, labels


def write_digits(directory: Path) -> None:
    pixels, labels = digits()
    np.savez(directory / "digits.npz", x=pixels, y=labels)


def opened(directory: Path, epsilon: str = "5", **changes: Any) -> Service:
    write_digits(directory)
    service = Service.open(settings_at(directory, **{"heartbeat_seconds": 1, **changes}))
    service.register(OWNER, DECLARATIONS, {"epsilon": epsilon, "delta": "1e-5"})
    return service
