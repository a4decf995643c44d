"""What requests for trainings and their responses hold, for the API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt, create_model

from sordino.serve.api.models import Body, Name, Number
from sordino.serve.api.shapes import Plain
from sordino.serve.api.shapes import Priced as AnyPriced
from sordino.serve.api.shapes import Released as AnyReleased

from .recipe import MOST_COEFFICIENTS
from .words import CLIPPINGS, WORDS, Word

Kind = Literal["linear", "mlp", "cnn"]
Widths = Annotated[list[StrictInt], Field(max_length=16)]


class Model(Body):
    """A model that is written down; no code comes over the wire."""

    kind: Kind
    hidden: Widths | None = None
    channels: Widths | None = None
    kernel: StrictInt | None = None
    activation: Literal["tanh", "relu"] | None = None


class Clipping(Body):
    """A clip that follows a quantile of the norms."""

    quantile: Number | None = None
    rate: Number | None = None
    noise: Number | None = None


class Correlation(Body):
    """Noise that cancels along a band of steps."""

    bands: StrictInt | None = None
    coefficients: Annotated[list[StrictInt], Field(max_length=MOST_COEFFICIENTS)] | None = None


_FORMS: dict[str, Any] = {
    "name": Name,
    "model": Kind | Model,
    "whole": StrictInt,
    "number": Number,
    "flag": StrictBool,
    "clipping": Literal[CLIPPINGS] | Clipping,
    "correlation": Literal["banded"] | Correlation,
}


def _field(word: Word) -> Any:
    kind = Literal[word.choices] if word.form == "choice" else _FORMS[word.form]
    described = Field(description=word.help)
    return (Annotated[kind, described], ...) if word.needed else (Annotated[kind | None, described], None)


class _Asked(Body):
    """A recipe: what is trained on which data set, for how long, and what it may spend."""


Training = create_model("Training", __base__=_Asked, **{name: _field(word) for name, word in WORDS.items()})


class Priced(AnyPriced):
    """What a training costs at most, in `measure` (ε or ρ).

    `within` is the budget of its own that holds it, or the data set's where noise alone was given; `spent` what it
    costs by itself; `by_tranche` has pairs of a step and what a run that ends there costs by itself. `bands` is over
    how many steps noise cancels, null where it does not.
    """

    model: Plain
    parameters: int
    loss: str
    batch: int
    steps: int
    pay: Literal["tranches", "whole"]
    tranche: int
    noise_multiplier: float
    bands: int | None
    measure: Literal["epsilon", "rho"]
    within: float
    spent: float
    delta: float | None
    by_tranche: list[Any]


class Released(AnyReleased):
    """The manifest of the last tranche, which names the weights by their SHA-256, and its receipt."""

    answer: Plain


class Predictions(Body):
    """A service of so many private predictions, by models on so many disjoint parts."""

    dataset: Name
    project: Name | None = None
    model: Literal["nearest-mean", "least-squares"] | None = None
    parts: StrictInt
    answers: StrictInt
    epsilon: Number | None = None
    delta: Number | None = None
    rho: Number | None = None


class PricedPredictions(AnyPriced):
    """What all answers together cost."""

    answers: int
    parts: int
    classes: int
    model: str


class Asked(Body):
    """Things to predict, a list of numbers each.

    Who asks the same again, as an answer was lost on its way, gives `after` as the answer before it told it.
    """

    things: Annotated[list[Any], Field(min_length=1, max_length=1000)]
    after: Annotated[StrictInt, Field(ge=0)] | None = None
