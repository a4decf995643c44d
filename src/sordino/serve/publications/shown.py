"""Publications in words, for pages and commands: prices and manifests, all of them public."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from sordino.serve.kinds.page import Page

_MOST_SHOWN = 40
_LONGEST = 200


def release_page(body: Mapping[str, Any]) -> Page:
    """Return what the page of a publication shows: its manifest."""
    facts = [
        ("Recipe", body["recipe"]),
        ("Protects", f"each {body['unit']}, {body['neighbours']}"),
        ("Spent", body["spend"]),
    ]
    values = {
        "facts": facts,
        "parameters": json.dumps(body["parameters"], indent=2, ensure_ascii=False),
        "measured": measured(body["measured"]),
        "published": sorted(body["files"].items()),
        "unprotected": body.get("not_protected", []),
    }
    return Page(values, "release_publication.html")


def measured(told: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was measured, as far as it is short."""
    return [(str(name)[:60], _spelled(value)) for name, value in list(told.items())[:_MOST_SHOWN]]


def _spelled(value: Any) -> str:
    text = f"{value:,.6g}" if isinstance(value, int | float) and not isinstance(value, bool) else ""
    text = text or (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def cost_words(told: Mapping[str, Any]) -> str:
    """Say what is spent.

    >>> cost_words({"epsilon": 1.0, "rho": 0.01, "delta": 1e-09})
    'ε = 1, δ = 1e-09'
    >>> cost_words({"epsilon": None, "rho": 2.56, "delta": None})
    'ρ = 2.56'
    """
    if told["epsilon"] is None:
        return f"ρ = {told['rho']:.6g}"
    return f"ε = {told['epsilon']:.6g}" + ("" if told["delta"] is None else f", δ = {told['delta']:.3g}")


def again(asked: Mapping[str, Any]) -> str:
    """Return the address of the form with what was asked in it."""
    return "/publications/new?" + urlencode({"asked": json.dumps(dict(asked), indent=2)})


def price_text(told: Mapping[str, Any]) -> str:
    """Return a price for a terminal."""
    lines = [f"price: {cost_words(told)}", f"charged {told['charge']}"]
    width = max((len(each["name"]) for each in told["errors"]), default=0)
    lines += [f"  {each['name']:<{width}}  {each['text']}" for each in told["errors"]]
    lines += [f"note: {note}" for note in told["notes"]]
    if not told["fits"]:
        lines.append("does not fit" + (f": what falls short is {told['short']}" if told["short"] else ""))
    if told["policy"]["allows"] != "run":
        lines.append(str(told["policy"]["message"]))
    return "\n".join(lines)


def release_text(body: Mapping[str, Any]) -> str:
    """Return what was published, for a terminal."""
    lines = [f"published: {body['recipe']} of {body['dataset']}, {body['spend']}"]
    lines += [f"  {name}: {value}" for name, value in measured(body["measured"])]
    lines += [f"  {name}  sha256 {digest}" for name, digest in sorted(body["files"].items())]
    return "\n".join(lines)
