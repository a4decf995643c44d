"""scikit-learn's estimators under differential privacy, with diffprivlib's names and arguments; no torch.

plan, spending, releases   what a fit releases, its noise, and the one door through which it gets it
whole_rows, bounds         rows as whole numbers, so that sums are exact and no row moves them by more than claimed
finding                    bounds, lengths and labels that were not declared, for a share of what is spent
private, scoring           what all estimators share, and scores that are paid for
scaler, linear, logistic, bayes, components, covariance, clusters, density, forest, explainable   one family a file
price                      what a pipeline or a search will spend
"""

from __future__ import annotations

from .bayes import GaussianNB
from .clusters import KMeans
from .components import PCA
from .covariance import EmpiricalCovariance
from .density import HistogramDensity
from .explainable import ExplainableBoostingClassifier, ExplainableBoostingRegressor
from .forest import RandomForestClassifier
from .linear import LinearRegression, Ridge
from .logistic import LogisticRegression
from .prices import price
from .scaler import StandardScaler

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
    "Ridge",
    "StandardScaler",
    "price",
]
