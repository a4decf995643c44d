"""sordino's federated training in one process, and its central training on the same images."""

from __future__ import annotations

import os
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch

import sordino as so
from sordino.learn import federation

IMAGES = Path(os.environ.get("SORDINO_IMAGES", Path(__file__).parents[3] / "shared" / "data" / "images"))
HOSPITALS, BATCH, ROUNDS, CLIP, RATE, DELTA = 5, 1000, 120, 1, 4.0, "1e-5"
PIXELS, CLASSES = 785, 10
Timing = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    return {"sordino": version("sordino"), "torch": torch.__version__}


def hospitals(epsilon: float, seeds: int, killed: str) -> Timing:
    """Train over skewed hospitals; kill one of five in every tenth round, in a phase that changes, or nobody."""
    (x, y), test = _images("train"), _images("test")
    scores, failed, spent = [], 0, 0.0
    phases = ("keys", "shares", "masked", "confirmed", "opened")

    def silent(number: int, member: int) -> str | None:
        falls = killed == "one" and number % 10 == 0 and member == number // 10 % HOSPITALS
        return phases[number // 10 % len(phases)] if falls else None

    for seed in range(seeds):
        parties = [
            federation.Patients(so.learn.examples(f"hospital {n}", x[own], y[own], size=len(own)), _update)
            for n, own in enumerate(_skewed(y, seed))
        ]
        study = federation.population("study", members=HOSPITALS, unit="patient", size=len(y))
        start = perf_counter()
        run = federation.simulate(
            parties,
            start=np.zeros(PIXELS * CLASSES),
            budget=so.account(study, so.budget(epsilon=epsilon, delta=DELTA)),
            rounds=ROUNDS,
            clip=CLIP,
            rate=Fraction(BATCH, len(y)),
            epsilon=epsilon,
            threshold=HOSPITALS - 1,
            apply=lambda weights, mean: weights + RATE * mean,
            silent=silent,
        )
        spent += perf_counter() - start
        failed += len(run.failed)
        scores.append(_accuracy(run.weights.reshape(PIXELS, CLASSES), *test))
    return spent, seeds * ROUNDS, {"accuracy": 100 * float(np.mean(scores)), "failed": failed}


def central(epsilon: float, seeds: int) -> Timing:
    """Train on all images in one place."""
    (x, y), test = _images("train"), _images("test")
    scores, spent = [], 0.0
    for _ in range(seeds):
        model = torch.nn.Linear(PIXELS, CLASSES, bias=False)
        torch.nn.init.zeros_(model.weight)
        images = so.learn.examples("images", x, y, size=len(y))
        start = perf_counter()
        so.learn.train(
            model,
            torch.nn.CrossEntropyLoss(),
            images,
            budget=so.account(images, so.budget(epsilon=epsilon, delta=DELTA)),
            batch=BATCH,
            clip=CLIP,
            steps=ROUNDS,
            epsilon=epsilon,
            optimizer=lambda parameters: torch.optim.SGD(parameters, lr=RATE),
        )
        spent += perf_counter() - start
        scores.append(_accuracy(model.weight.detach().numpy().T, *test))
    return spent, seeds * ROUNDS, {"accuracy": 100 * float(np.mean(scores))}


def _images(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Return images as rows with a last column of ones, and labels."""
    with np.load(IMAGES / f"mnist_{part}.npz") as found:
        x, y = (found[name] for name in found.files)
    rows = x.reshape(len(x), -1).astype(np.float32) / 255
    return np.hstack([rows, np.ones((len(rows), 1), np.float32)]), y.astype(np.int64)


def _skewed(y: np.ndarray, seed: int) -> list[np.ndarray]:
    """Return each hospital's places: four fifths of every class are at its hospital, the rest anywhere, unequally."""
    dice = np.random.default_rng(seed)
    anywhere = dice.choice(HOSPITALS, size=len(y), p=np.arange(1, HOSPITALS + 1) / 15)
    home = np.where(dice.random(len(y)) < 0.8, y // 2, anywhere)
    return [np.flatnonzero(home == number) for number in range(HOSPITALS)]


def _update(weights: np.ndarray, records: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return the negative gradient of one patient's cross-entropy."""
    x, y = records[0][0], int(records[1][0])
    logits = x @ weights.reshape(PIXELS, CLASSES)
    chances = np.exp(logits - logits.max())
    chances /= -chances.sum()
    chances[y] += 1
    return np.outer(x, chances).ravel()


def _accuracy(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    return float(((x @ weights).argmax(1) == y).mean())
