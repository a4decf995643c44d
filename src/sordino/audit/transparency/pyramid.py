"""The report in the words of the differential privacy pyramid of NIST SP 800-226.

Each component rests on those below it. The top is the most direct measure of the promise (privacy parameters, unit of
privacy), the middle what achieves it (algorithms and correctness, utility, bias), the base what it assumes (access
control, trust models, side channels, data collection exposure). What cannot be known from a ledger is *not stated*
unless people state it.

**Source.** J. Near, D. Darais, N. Lefkovitz, G. Howarth, *Guidelines for Evaluating Differential Privacy Guarantees*,
NIST SP 800-226 (2025), figure 1 and sections 2 to 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sordino.accounting.approximate import own_delta
from sordino.accounting.event import Event
from sordino.accounting.part import part_of
from sordino.accounting.units import significant

from .statements import NOT_STATED

Content = Mapping[str, Any]

_WHOLE_PEOPLE = "All rows of one {unit} are protected together, whatever their number."
_ROWS = (
    "Rows are protected one by one. Whoever has several rows is protected less than the figures say: as a group of so "
    "many rows. NIST calls this event-level privacy and a hazard."
)
_DAYS = "What is protected is what one of them did on one day; over several days the losses add up."
_REFRESH = "The budget begins anew each period, so over a lifetime nothing is promised: losses of periods add up."


def pyramid(content: Content) -> list[dict[str, Any]]:
    """Return the levels from the top down, each with its components and what is known of them."""
    stated = content["stated"]
    return [
        _level("top", "The promise itself", parameters=_parameters(content), unit=_unit(content)),
        _level(
            "middle",
            "What achieves it",
            algorithms=_algorithms(content),
            utility=_utility(content),
            bias=_bias(content),
        ),
        _level(
            "base",
            "What it rests on",
            access=[f"Access to the data itself: {stated['access']}.", *_ACCESS],
            trust=_TRUST,
            channels=_CHANNELS,
            collection=[f"How the data was collected and who saw it on the way: {stated['collection']}."],
        ),
    ]


_NAMES = {
    "parameters": "Privacy parameters",
    "unit": "Unit of privacy",
    "algorithms": "Algorithms and correctness",
    "utility": "Utility",
    "bias": "Bias",
    "access": "Access control",
    "trust": "Trust model",
    "channels": "Side channels",
    "collection": "Data collection exposure",
}

_ACCESS = (
    "Analysts never reach the data: their text becomes a plan of an allow-list, and only SQL that was generated from "
    "it reaches an engine. Every release was charged before data was touched.",
)
_TRUST = [
    "Central: one curator holds the data and adds the noise. People trust the curator, its machines and its engine "
    "with their data, and whoever reads what was released with nothing.",
    "What was charged is in an append-only ledger whose signed checkpoints a witness elsewhere can remember; to change "
    "it unnoticed takes the signing key and the witness.",
]
_CHANNELS = [
    "Noise is an exact integer multiple of a public grid, so the bits of an answer do not give the data away. Errors "
    "after a charge are mute, and prices and refusals before it depend on no data.",
    "The time that a question takes is not padded, except where the service answers in slots.",
]


def _level(level: str, about: str, **components: list[str]) -> dict[str, Any]:
    listed = [{"name": _NAMES[name], "states": states} for name, states in components.items()]
    return {"level": level, "about": about, "components": listed}


def _parameters(content: Content) -> list[str]:
    budget, spent = content["budget"], content["spent"]
    found = [f"The cap of all releases together: {budget['text']}."]
    if content["subject"]["kind"] == "release":
        price = content["releases"][0]["price"]
        found.append(f"This release cost {price_words(price)} by itself.")
    if spent["loss"] is not None:
        found.append(f"What has been released so far loses {price_words(spent['loss'])} in all.")
    found.append(content["composition"])
    if budget["refresh"] is not None:
        found.append(_REFRESH)
    return found


def price_words(price: Mapping[str, Any] | None) -> str:
    """Return a stand-alone price in the usual letters."""
    letters = (("epsilon", "ε"), ("rho", "ρ"), ("delta", "δ"))
    given = [(letter, price[name]) for name, letter in letters if price and price.get(name) not in (None, "0")]
    return ", ".join(f"{letter} = {_six_digits(value)}" for letter, value in given) or NOT_STATED


def _six_digits(exact: str) -> str:
    """Return an exact number so that it can be read, rounded up."""
    return f"{float(significant(Fraction(exact), 6, 'ROUND_CEILING')):.6g}"


def _unit(content: Content) -> list[str]:
    protected = content["protected"]
    unit = str(protected["unit"])
    found = [f"The unit is one {unit}.", protected["neighbours_in_words"]]
    found.append(_ROWS if unit == "row" or part_of(unit) else _WHOLE_PEOPLE.format(unit=unit))
    if content["budget"]["blocks"] == "unit-per-block":
        found.append(_DAYS)
    return [each for each in found if each]


def _algorithms(content: Content) -> list[str]:
    ran = [
        f"{each['mechanism'][:1].upper()}{each['mechanism'][1:]} in {each['releases']} of {len(content['releases'])} "
        f"releases: {'; '.join(each['laws'][:3])}{' and more' if len(each['laws']) > 3 else ''}."
        for each in content["mechanisms"]
    ]
    return [
        *(ran or ["Nothing was released yet."]),
        "Samplers are exact: discrete laws from a cryptographic keystream, no floating-point noise. Every mechanism is "
        "judged by one suite of laws (price, distribution, a measured ε that never exceeds the claim).",
    ]


def _utility(content: Content) -> list[str]:
    widths = sorted(
        float(noise["half_width_in_rows"])
        for row in content["releases"]
        for noise in row["noise"]
        if noise["half_width_in_rows"] is not None
    )
    if not widths:
        return ["No counts or sums with noise were released, so there is no width of noise to state."]
    spread = f"± {widths[0]:g}" if widths[0] == widths[-1] else f"± {widths[0]:g} to ± {widths[-1]:g}"
    return [
        f"Each noisy number that answers were read from is off by {spread} rows at most, with 95 % confidence; an "
        "answer may be read from several. Noise is the same for every group, so small groups suffer most.",
        *_columns(content),
    ]


def _columns(content: Content) -> list[str]:
    """Say how far off each column of a single release is."""
    if content["subject"]["kind"] != "release":
        return []
    return [
        f"Column {each['name']}: ± {each['half_width']} at most in any row, with {each['confidence']} confidence."
        for each in content["releases"][0]["columns"]
        if each["half_width"] is not None
    ]


def _bias(content: Content) -> list[str]:
    hides = list(dict.fromkeys(row["hides"] for row in content["releases"] if row["hides"]))
    found = [f"{each[:1].upper()}{each[1:]}." for each in hides]
    if any(own_delta(Event.from_json(row["event"])) for row in content["releases"]):
        found.append(
            "Where the keys of groups were not declared, groups of few are left out, so what is rare is missing."
        )
    return found or ["No bounding was stated by any release."]
