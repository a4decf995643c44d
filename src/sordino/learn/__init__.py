"""Models under differential privacy: training, teachers, private predictions, charged to the ledger of every query.

    run/         what every training shares: examples, samples, the plan and its price, tranches, checkpoints
    gradients/   sums of clipped gradients, by unit, in torch
    descent/     exact noise and the loop: `train`, `Training`, `search`, several processes
    teaching/    a noisy vote of models on disjoint parts labels public things
    federation/  members that keep their data: masked sums, shared noise; over Flower, or in one process
    prediction/  a model that is never released answers so many times
    estimators/  scikit-learn's estimators, with diffprivlib's names
    features/    of images, fixed beforehand: a function of one image alone, so they cost nothing

Importing this room loads neither torch nor scikit-learn; what needs them loads them when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import estimators
    from .descent.parallel import follow
    from .descent.ranks import Ranks
    from .descent.search import Search, search
    from .descent.train import train
    from .descent.training import Training
    from .estimators.bayes import GaussianNB
    from .estimators.clusters import KMeans
    from .estimators.components import PCA
    from .estimators.covariance import EmpiricalCovariance
    from .estimators.density import HistogramDensity
    from .estimators.explainable import ExplainableBoostingClassifier, ExplainableBoostingRegressor
    from .estimators.forest import RandomForestClassifier
    from .estimators.linear import LinearRegression, Ridge
    from .estimators.logistic import LogisticRegression
    from .estimators.scaler import StandardScaler
    from .features.image_features import image_features
    from .features.scattering import scattering
    from .prediction.predictions import predictions
    from .run.adaptive import adaptive
    from .run.correlation import banded
    from .run.examples import examples
    from .run.tables import examples_from
    from .teaching.ensemble import teachers
    from .teaching.student import student

__all__ = [
    "PCA",
    "EmpiricalCovariance",
    "ExplainableBoostingClassifier",
    "ExplainableBoostingRegressor",
    "GaussianNB",
    "HistogramDensity",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "RandomForestClassifier",
    "Ranks",
    "Ridge",
    "Search",
    "StandardScaler",
    "Training",
    "adaptive",
    "banded",
    "estimators",
    "examples",
    "examples_from",
    "follow",
    "image_features",
    "predictions",
    "scattering",
    "search",
    "student",
    "teachers",
    "train",
]

_HOME = {
    "Ranks": "descent.ranks",
    "Search": "descent.search",
    "EmpiricalCovariance": "estimators.covariance",
    "ExplainableBoostingClassifier": "estimators.explainable",
    "ExplainableBoostingRegressor": "estimators.explainable",
    "GaussianNB": "estimators.bayes",
    "HistogramDensity": "estimators.density",
    "KMeans": "estimators.clusters",
    "LinearRegression": "estimators.linear",
    "LogisticRegression": "estimators.logistic",
    "PCA": "estimators.components",
    "RandomForestClassifier": "estimators.forest",
    "Ridge": "estimators.linear",
    "StandardScaler": "estimators.scaler",
    "Training": "descent.training",
    "adaptive": "run.adaptive",
    "banded": "run.correlation",
    "examples": "run.examples",
    "examples_from": "run.tables",
    "follow": "descent.parallel",
    "predictions": "prediction.predictions",
    "search": "descent.search",
    "image_features": "features.image_features",
    "scattering": "features.scattering",
    "student": "teaching.student",
    "teachers": "teaching.ensemble",
    "train": "descent.train",
}


def __getattr__(name: str) -> Any:
    if name in ("estimators", "federation"):  # folders with names of their own
        return import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
