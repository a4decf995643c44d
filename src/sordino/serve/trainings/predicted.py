"""The row of private predictions: so many answers by a vote of models that are never released, then a refusal.

All answers are charged when it is opened. Each is recorded before it leaves; after a restart it goes on by its id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sordino.arguments import rational, whole
from sordino.data.account import DataAccount
from sordino.data.ownership import unknown
from sordino.errors import ArgumentError
from sordino.learn.run.pricing import Spent
from sordino.serve.kinds.kind import Kind, OpenWork, Plain, Quoted, Running, Shapes, StillOpen

from .declared import Declared
from .kind import EXAMPLES

MOST_ANSWERS = 100_000
MOST_PARTS = 10_000
MOST_AT_ONCE = 1000
_WORDS = ("dataset", "project", "model", "parts", "answers", "epsilon", "delta", "rho")


@dataclass(frozen=True)
class Wanted:
    """What is asked for, read and checked."""

    dataset: str
    project: str | None
    plain: Plain
    model: str
    parts: int
    answers: int
    spent: Spent

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Wanted:
        """Return what plain words ask for; refuse what cannot be."""
        from sordino.learn.prediction.fits import FITS, fit_of

        for word in given:
            if word not in _WORDS:
                raise ArgumentError(f"predictions have the word {unknown(str(word)[:60], _WORDS)}", "SRD-T202")
        plain = {word: value for word, value in given.items() if value is not None}
        for word in ("dataset", "parts", "answers"):
            if word not in plain:
                raise ArgumentError(f"predictions must say {word}; models are {', '.join(FITS)}", "SRD-T202")
        for word in ("dataset", "project"):
            if not isinstance(plain.get(word, ""), str):
                raise ArgumentError(f"{word} must be a name", "SRD-A001")
        for word in ("epsilon", "delta", "rho"):
            if word in plain:
                rational(word, plain[word], above=0, most=10**9)
        model = plain.get("model", "nearest-mean")
        fit_of(model)
        return cls(
            plain["dataset"],
            plain.get("project"),
            plain,
            model,
            whole("parts", plain["parts"], least=2, most=MOST_PARTS),
            whole("answers", plain["answers"], least=1, most=MOST_ANSWERS),
            Spent(plain.get("epsilon"), plain.get("delta"), plain.get("rho")),
        )


def _classes(declared: Declared) -> int:
    if declared.classes is None:
        raise ArgumentError(
            "a vote needs classes, and these examples have numbers to be predicted; train a model instead", "SRD-T202"
        )
    return declared.classes


def _price(data: DataAccount[Declared], wanted: Wanted) -> Quoted:
    from sordino.learn.prediction.predictions import plan_of

    declared = data.protected
    plan = plan_of(
        declared,
        data.budget,
        wanted.spent,
        parts=wanted.parts,
        classes=_classes(declared),
        answers=wanted.answers,
    )
    return Quoted.of(plan, answers=plan.answers, parts=plan.models, classes=plan.classes, model=wanted.model)


def _opened(data: DataAccount[Any], wanted: Wanted, resume: str | None) -> tuple[Any, Declared]:
    from sordino.learn.prediction.fits import fit_of
    from sordino.learn.prediction.predictions import predictions

    declared: Declared = data.protected.declared
    spent = wanted.spent
    found = predictions(
        data.protected,
        parts=wanted.parts,
        classes=_classes(declared),
        fit=fit_of(wanted.model),
        answers=wanted.answers,
        budget=data,
        epsilon=spent.epsilon,
        delta=spent.delta,
        rho=spent.rho,
        resume=resume,
    )
    return found, declared


def _run(data: DataAccount[Any], wanted: Wanted, running: Running) -> StillOpen:
    live = _opened(data, wanted, running.work)
    return StillOpen(live[0].id, {"left": live[0].left}, live)


def _part(live: tuple[Any, Declared], asked: Mapping[str, Any]) -> Plain:
    """Return the class of each thing asked, and how many answers are left."""
    import numpy as np

    from .stored import scaled

    service, declared = live
    try:
        things = np.asarray(asked["things"], dtype=np.float64)
        things = scaled(declared, things.reshape(len(things), *(declared.shape or ())))
    except (ValueError, TypeError, KeyError, OverflowError):
        things = np.zeros(0)
    if things.ndim < 2 or not 1 <= len(things) <= MOST_AT_ONCE or not np.isfinite(things).all():
        raise ArgumentError(
            f"things must be 1 to {MOST_AT_ONCE} lists of numbers, each of the shape {list(declared.shape or ())} that "
            "examples have",
            "SRD-A001",
        )
    classes = service.predict(things, after=asked.get("after"))
    given = service.plan.answers - service.left
    return {"classes": [int(each) for each in classes], "left": service.left, "after": given}


def _finish(live: tuple[Any, Declared]) -> Any:
    return live[0].close()


def _open_work() -> OpenWork:
    from .shapes import Asked

    return OpenWork(_opened, _part, _finish, Asked)


def _shapes() -> Shapes:
    from .shapes import Predictions, PricedPredictions

    return Shapes(Predictions, PricedPredictions, dict[str, Any])


PREDICTIONS = Kind(
    name="predictions",
    title="a service of predictions",
    read=Wanted.read,
    price=_price,
    run=_run,
    about=("examples",),
    sorts=(EXAMPLES,),
    opened=_open_work,
    shapes=_shapes,
)
