"""Models that are written down rather than programmed: their layers, and how many numbers each has.

So a training can be asked for and priced where no code may come from outside and no model library is loaded.

>>> written({"kind": "mlp", "hidden": [32]}, (8, 8), 10).parameters
2410
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sordino.arguments import one_of, whole
from sordino.errors import ArgumentError

ACTIVATIONS = ("tanh", "relu")
MOST_PARAMETERS = 20_000_000
MOST_LAYERS = 16
_WIDEST = 1_000_000
_MOST_ACTIVATIONS = 2_000_000
"""Numbers that one example may have within the model: many examples are held at once."""


@dataclass(frozen=True)
class Layer:
    """One layer: what it does, and its sizes: of what comes in, of what goes out, of a kernel where it has one."""

    does: str
    sizes: tuple[int, ...] = ()

    @property
    def parameters(self) -> int:
        """How many numbers are trained in it."""
        if self.does not in ("linear", "convolve"):
            return 0
        come, go, *kernel = self.sizes
        return go * (come * math.prod(2 * kernel) + 1)


@dataclass(frozen=True)
class Written:
    """A model, layer by layer; `shape` is what one example looks like to it."""

    shape: tuple[int, ...]
    layers: tuple[Layer, ...]
    plain: Mapping[str, Any]
    """As it was written, with what was left out."""

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return sum(layer.parameters for layer in self.layers)


def written(given: Any, shape: tuple[int, ...], outputs: int) -> Written:
    """Return the model that is written down for examples of a `shape`; refuse what is none, or too large to serve."""
    words = {"kind": given} if isinstance(given, str) else given
    if not isinstance(words, Mapping) or not isinstance(words.get("kind"), str):
        raise ArgumentError(f"model must say its kind, one of {', '.join(_KINDS)}, as {_AS}", "SRD-T201")
    build, known = _KINDS[one_of("the model's kind", words["kind"], tuple(_KINDS))]
    for word in words:
        if word not in ("kind", *known):
            raise ArgumentError(
                f"a model of the kind {words['kind']} says {', '.join(('kind', *known))} and nothing else", "SRD-T201"
            )
    found = build(words, shape, outputs)
    if found.parameters > MOST_PARAMETERS:
        raise ArgumentError(
            f"this model has {found.parameters:,} parameters, and {MOST_PARAMETERS:,} is the most that is trained from "
            "a recipe; make it smaller, or train it by a program of yours",
            "SRD-T201",
        )
    return found


def _linear(_words: Mapping[str, Any], shape: tuple[int, ...], outputs: int) -> Written:
    return Written(shape, (Layer("flatten"), Layer("linear", (math.prod(shape), outputs))), {"kind": "linear"})


def _perceptron(words: Mapping[str, Any], shape: tuple[int, ...], outputs: int) -> Written:
    hidden, activation = _widths("hidden", words.get("hidden", (128,))), _activation(words)
    layers = (Layer("flatten"), *_dense(math.prod(shape), hidden, activation, outputs))
    return Written(shape, layers, {"kind": "mlp", "hidden": list(hidden), "activation": activation})


def _convolutional(words: Mapping[str, Any], shape: tuple[int, ...], outputs: int) -> Written:
    if len(shape) not in (2, 3):
        raise ArgumentError(
            "a cnn needs examples of a height and a width, or of channels, height and width; declare their shape, or "
            "choose another model",
            "SRD-T201",
        )
    channels, height, width = (1, *shape) if len(shape) == 2 else shape
    kernel = whole("kernel", words.get("kernel", 5), least=1, most=15)
    if kernel % 2 == 0:
        raise ArgumentError("kernel must be an odd number, so that it has a middle", "SRD-T201")
    many, hidden = _widths("channels", words.get("channels", (16, 32))), _widths("hidden", words.get("hidden", (32,)))
    activation, layers, held = _activation(words), [Layer("shape", (channels, height, width))], 0
    for wide in many:
        layers += [Layer("convolve", (channels, wide, kernel)), Layer(activation), Layer("pool")]
        held += wide * height * width
        channels, height, width = wide, height // 2, width // 2
        if not height or not width or held > _MOST_ACTIVATIONS:
            raise ArgumentError(
                "this cnn halves its images too often, or holds more of each than there is room for; give it fewer "
                "channels",
                "SRD-T201",
            )
    dense = _dense(channels * height * width, hidden, activation, outputs)
    plain = {"kind": "cnn", "channels": list(many), "kernel": kernel, "hidden": list(hidden), "activation": activation}
    return Written(shape, (*layers, Layer("flatten"), *dense), plain)


def _dense(come: int, hidden: tuple[int, ...], activation: str, outputs: int) -> tuple[Layer, ...]:
    layers: list[Layer] = []
    for wide in hidden:
        layers += [Layer("linear", (come, wide)), Layer(activation)]
        come = wide
    return (*layers, Layer("linear", (come, outputs)))


def _widths(name: str, given: Any) -> tuple[int, ...]:
    if not isinstance(given, list | tuple) or len(given) > MOST_LAYERS:
        raise ArgumentError(f"{name} must be a list of at most {MOST_LAYERS} whole numbers, as [128, 64]", "SRD-T201")
    return tuple(whole(name, each, least=1, most=_WIDEST) for each in given)


def _activation(words: Mapping[str, Any]) -> str:
    return one_of("activation", words.get("activation", "tanh"), ACTIVATIONS)


_AS = "linear, {kind: mlp, hidden: [128]} or {kind: cnn, channels: [16, 32]}"
_Build = Callable[[Mapping[str, Any], tuple[int, ...], int], Written]
_KINDS: dict[str, tuple[_Build, tuple[str, ...]]] = {
    "linear": (_linear, ()),
    "mlp": (_perceptron, ("hidden", "activation")),
    "cnn": (_convolutional, ("channels", "kernel", "hidden", "activation")),
}
