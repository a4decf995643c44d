"""What a pipeline or a search will spend, told before a row is looked at.

A search fits every candidate on every fold, scores it there, and fits the best once more: each of them is charged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, RandomizedSearchCV, check_cv
from sklearn.pipeline import FeatureUnion, Pipeline

from sordino.arguments import rational
from sordino.errors import ArgumentError

from .private import PrivateEstimator
from .scoring import SCORE_PARTS, Scored


@dataclass(frozen=True)
class Line:
    """So many fits, or scores, of one estimator, and what each spends."""

    what: str
    times: int
    epsilon: Fraction | None
    rho: Fraction | None

    def __str__(self) -> str:
        each = f"ε = {float(self.epsilon):g}" if self.epsilon is not None else f"ρ = {float(self.rho or 0):g}"
        return f"{self.times} × {self.what} at {each}"


@dataclass(frozen=True)
class FitPrice:
    """What fitting will spend: `epsilon` and `rho` are plain sums, which an account with a δ may charge less for."""

    lines: tuple[Line, ...]

    @property
    def epsilon(self) -> Fraction:
        """The sum of all ε."""
        return sum((each.times * each.epsilon for each in self.lines if each.epsilon is not None), Fraction(0))

    @property
    def rho(self) -> Fraction:
        """The sum of all ρ."""
        return sum((each.times * each.rho for each in self.lines if each.rho is not None), Fraction(0))

    def __str__(self) -> str:
        sums = [f"ε = {float(self.epsilon):g}"] if self.epsilon else []
        sums += [f"ρ = {float(self.rho):g}"] if self.rho else []
        return "; ".join(str(each) for each in self.lines) + f"; in all {' and '.join(sums) or 'nothing'}"


def price(estimator: Any) -> FitPrice:
    """Return what one call of ``estimator.fit`` will spend, for an estimator, a pipeline, or a search over them.

    >>> from sordino.learn.estimators import LogisticRegression, StandardScaler, price
    >>> from sklearn.pipeline import make_pipeline
    >>> print(price(make_pipeline(StandardScaler(epsilon=0.1), LogisticRegression(epsilon=0.9))))
    1 × StandardScaler.fit at ε = 0.1; 1 × LogisticRegression.fit at ε = 0.9; in all ε = 1
    """
    counted: dict[tuple[str, Fraction | None, Fraction | None], int] = {}
    for line in _lines(estimator):
        key = line.what, line.epsilon, line.rho
        counted[key] = counted.get(key, 0) + line.times
    return FitPrice(tuple(Line(what, times, epsilon, rho) for (what, epsilon, rho), times in counted.items()))


def _lines(estimator: Any) -> Iterator[Line]:
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        yield from _of_search(estimator)
    elif isinstance(estimator, Pipeline):
        for _, step in estimator.steps:
            yield from _lines(step)
    elif isinstance(estimator, FeatureUnion):
        for _, step in estimator.transformer_list:
            yield from _lines(step)
    elif isinstance(estimator, PrivateEstimator):
        yield Line(
            f"{type(estimator).__name__}.fit", 1, _number("epsilon", estimator.epsilon), _number("rho", estimator.rho)
        )
    elif isinstance(estimator, BaseEstimator) and _holds_private(estimator):
        raise ArgumentError(
            f"how often a {type(estimator).__name__} fits what it holds is not known here; price what it holds, and "
            "multiply",
            "SRD-A001",
        )


def _holds_private(estimator: BaseEstimator) -> bool:
    return any(isinstance(each, PrivateEstimator) for each in estimator.get_params(deep=True).values())


def _of_search(search: Any) -> Iterator[Line]:
    if search.scoring is not None and _holds_private(search):
        raise ArgumentError(
            "a search with scoring=… computes exact scores, which nobody pays for: leave it out, so that each "
            "estimator's own score is charged",
            "SRD-A003",
        )
    folds = check_cv(search.cv, classifier=is_classifier(search.estimator)).get_n_splits()
    if isinstance(search, GridSearchCV):
        candidates = [clone(search.estimator).set_params(**words) for words in ParameterGrid(search.param_grid)]
        fits = folds
    else:
        candidates, fits = [search.estimator], folds * search.n_iter
    dearest = max(candidates, key=_spent)
    for candidate in candidates:
        for line in (*_lines(candidate), *_scores(candidate)):
            yield Line(line.what, line.times * fits, line.epsilon, line.rho)
    if search.refit:
        yield from _lines(dearest)


def _spent(estimator: Any) -> Fraction:
    found = FitPrice(tuple(_lines(estimator)))
    return found.epsilon + found.rho


def _scores(estimator: Any) -> Iterator[Line]:
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if not isinstance(last, Scored):
        return
    what = f"{type(last).__name__}.score"
    if last.score_epsilon is not None:
        yield Line(what, 1, _number("score_epsilon", last.score_epsilon), None)
    else:
        epsilon, rho = _number("epsilon", last.epsilon), _number("rho", last.rho)
        yield Line(what, 1, epsilon and epsilon / SCORE_PARTS, rho and rho / SCORE_PARTS)


def _number(name: str, given: Any) -> Fraction | None:
    return None if given is None else rational(name, given, above=0)
