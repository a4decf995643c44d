"""Trainings and examples in words, for pages and commands: recipes, prices and manifests, all of them public."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from sordino.serve.kinds.page import Page

LETTERS = {"epsilon": "ε", "rho": "ρ"}
_MANIFEST = (
    ("steps charged", "Steps charged in this tranche"),
    ("steps run", "Steps run in it"),
    ("first step", "Steps before it"),
    ("parameters", "Parameters"),
    ("batch", "Batch, on average"),
    ("clip", "Clip: the largest norm of one unit's gradient"),
    ("noise multiplier", "Noise, in units of what one unit can move"),
    ("model", "The model's SHA-256"),
    ("recipe", "The recipe's SHA-256"),
    ("weights", "The weights' SHA-256"),
)


def release_page(body: Mapping[str, Any]) -> Page:
    """Return what the page of a tranche shows: its manifest."""
    return Page({"manifest": [(words, body[name]) for name, words in _MANIFEST]}, "release_training.html")


def examples_page(told: Mapping[str, Any]) -> Page:
    """Return what the page of a data set of examples shows."""
    features = ", ".join(map(str, told["features"][:20])) + (", …" if len(told["features"]) > 20 else "")
    facts = [
        (f"Examples of about so many {told['unit']}s", told["size"]),
        ("Features", features),
        ("What one example looks like", " × ".join(map(str, told["shape"]))),
        ("Label", told["label"]),
        ("Classes", told["classes"] or "none: a number is predicted"),
        ("Clipped to, and divided into 0 to 1", "–" if told["scale"] is None else f"{told['scale']}"),
        ("Whose an example is", told["owned_by"] or "each is protected on its own"),
    ]
    return Page({"facts": facts}, "examples.html")


def again(recipe: Mapping[str, Any]) -> str:
    """Return the address of the form with a recipe in it."""
    return "/trainings/new?" + urlencode({"recipe": json.dumps(dict(recipe), indent=2)})


def noise_words(told: Mapping[str, Any]) -> str:
    """Say how much noise there is: in units of the clip, unless it is correlated.

    >>> noise_words({"noise_multiplier": 1.118, "bands": None}), noise_words({"noise_multiplier": 2.0, "bands": 8})
    ('noise 1.118 × clip', 'noise multiplier 2, correlated over 8 steps')
    """
    if told["bands"] is None:
        return f"noise {told['noise_multiplier']:.4g} × clip"
    return f"noise multiplier {told['noise_multiplier']:.4g}, correlated over {told['bands']:,} steps"


def charged_words(told: Mapping[str, Any]) -> str:
    """Say how steps are charged.

    >>> charged_words({"pay": "tranches", "steps": 20, "tranche": 5}), charged_words({"pay": "whole"})
    ('charged in 4 tranches', 'charged whole, before the first')
    """
    if told["pay"] == "whole":
        return "charged whole, before the first"
    tranches = -(-told["steps"] // told["tranche"])
    return f"charged in {tranches:,} tranche{'' if tranches == 1 else 's'}"


def spent_words(told: Mapping[str, Any]) -> str:
    """Say which budget holds a training, and what it costs by itself.

    >>> spent_words({"measure": "epsilon", "within": 2.0, "spent": 1.78012, "delta": 1e-05, "pay": "tranches"})
    'ε = 2 at δ = 1e-05 (as a run by itself ε = 1.78)'
    """
    tells = told["measure"] == "epsilon" and told["pay"] != "whole"
    alone = f" (as a run by itself ε = {told['spent']:.4g})" if tells else ""
    return f"{within_words(told)}{alone}"


def within_words(told: Mapping[str, Any]) -> str:
    """Say which budget holds a training."""
    delta = "" if told["delta"] is None else f" at δ = {told['delta']:g}"
    return f"{LETTERS[told['measure']]} = {told['within']:.4g}{delta}"


def price_text(told: Mapping[str, Any]) -> str:
    """Return a price for a terminal."""
    lines = [
        f"{told['steps']:,} steps of {told['batch']:,} on average, {charged_words(told)}",
        f"{told['parameters']:,} parameters, {noise_words(told)}",
        f"within {spent_words(told)}",
        f"charged at most {told['charge']}",
    ]
    if not told["fits"]:
        lines.append("does not fit" + (f": what falls short is {told['short']}" if told["short"] else ""))
    if told["policy"]["allows"] != "run":
        lines.append(str(told["policy"]["message"]))
    return "\n".join(lines)


def release_text(body: Mapping[str, Any]) -> str:
    """Return what was settled last, for a terminal."""
    steps = body["first step"] + body["steps run"]
    return f"trained: {steps:,} steps, {body['parameters']:,} parameters\nweights {body['weights']}"


def by_tranche(points: Sequence[Sequence[float]], measure: str, now: int | None) -> dict[str, Any]:
    """Return the drawing of what is spent by which step: all of it, and where the training is."""
    rows = [{"step": 0, "spent": 0.0}, *({"step": step, "spent": spent} for step, spent in points)]
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "area", "interpolate": "step-before", "line": {"strokeWidth": 2}, "fillOpacity": 0.15},
            "encoding": {
                "x": {"field": "step", "type": "quantitative", "title": "step", "axis": {"tickMinStep": 1}},
                "y": {
                    "field": "spent",
                    "type": "quantitative",
                    "title": f"{LETTERS[measure]} of a run that ends here",
                    "stack": None,
                },
            },
        }
    ]
    if now is not None:
        layers.append(
            {
                "data": {"values": [{"step": now}]},
                "mark": {"type": "rule", "strokeWidth": 2, "strokeDash": [4, 4]},
                "encoding": {"x": {"field": "step", "type": "quantitative"}},
            }
        )
    shared = {"width": "container", "autosize": {"type": "fit", "contains": "padding"}, "height": 220}
    return {**shared, "data": {"values": rows}, "layer": layers}
