"""sordino's teachers on MNIST: an ensemble of ridge regressions, a noisy vote, and a semi-supervised student."""

from __future__ import annotations

from importlib.metadata import version
from statistics import mean, stdev
from time import perf_counter
from typing import Any

import numpy as np

import sordino as so
from image_data import DATA

TEACHERS, ASKED, SIGMA, DELTA, PUBLIC = 250, 400, 40, "1e-5", 9_000
Timing = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"sordino": version("sordino")}


def fit(part: tuple[Any, Any]) -> Any:
    """Return one teacher: ridge regression of classes, in its dual form, as it has fewer images than features."""
    features, labels = part
    middle = features.mean(axis=0)
    centred = features - middle
    dual = np.linalg.solve(centred @ centred.T + 200 * np.eye(len(features)), np.eye(10)[labels] - 0.1)
    weights = centred.T @ dual
    return lambda asked: ((asked - middle) @ weights).argmax(axis=1)


def students(splits: int) -> Timing:
    """Return how good students are: each split of the test set has an ensemble, an account and a student of its own."""
    with np.load(DATA / "mnist_train.npz") as found:
        digits, labels = so.learn.image_features(found["x"]), found["y"].astype(np.int64)
    with np.load(DATA / "mnist_test.npz") as found:
        public, truth = so.learn.image_features(found["x"]), found["y"].astype(np.int64)
    right, labelled, charged = [], [], []
    started = perf_counter()
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(public))
        ours, judged, asked = order[:PUBLIC], order[PUBLIC:], order[:ASKED]
        mnist = so.learn.examples("mnist", digits, labels, size=len(labels))
        account = so.account(mnist, so.budget(epsilon=3, delta=DELTA, own_delta_share=1))
        teachers = so.learn.teachers(mnist, count=TEACHERS, classes=10, fit=fit, budget=account)
        answers = teachers.label(public[asked], sigma=SIGMA, delta=DELTA).labels
        known = np.concatenate([answers, np.full(PUBLIC - ASKED, -1)])
        student = so.learn.student(public[ours], known, classes=10)
        right.append(float((student.predict(public[judged]) == truth[judged]).mean()))
        labelled.append(float((answers == truth[asked]).mean()))
        charged.append(float(account.account.spent_as(0)[0]))
    values = {"accuracy": mean(right), "deviation": stdev(right), "labels": mean(labelled), "charged": max(charged)}
    return perf_counter() - started, splits, values
