"""Prices in notebooks: what is used and would be, and how far off each column will be; without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .price import Price

_STYLE = """<style>
.sordino-price{color:inherit;font-variant-numeric:tabular-nums;overflow-x:auto}
.sordino-price table{border-collapse:collapse;background:transparent}
.sordino-price th,.sordino-price td{padding:.25em .6em;text-align:left;border-bottom:1px solid rgba(128,128,128,.3);
background:transparent;color:inherit;white-space:nowrap}
.sordino-price svg{display:block;width:20em;max-width:100%;height:.6em;margin:.3em 0}
</style>"""


def page(price: Price) -> str:
    """Return the price as a fragment of HTML; everything in it is escaped."""
    cost, charged, *_ = str(price).split("\n")
    rows = "".join(
        f'<tr><th scope="row">{escape(each.name)}</th><td>{escape(str(each))}</td></tr>' for each in price.columns
    )
    table = (
        f'<table><thead><tr><th scope="col">column</th><th scope="col">expected error at '
        f"{100 * float(price.confidence):.6g} %, noise only</th></tr></thead><tbody>{rows}</tbody></table>"
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in price.notes)
    return (
        f'<div class="sordino-price">{_STYLE}<p><strong>{escape(cost)}</strong><br>{escape(charged)}</p>{_meter(price)}'
        f"{table if rows else ''}{f'<ul>{notes}</ul>' if notes else ''}</div>"
    )


def _meter(price: Price) -> str:
    """Return what is used, and what would be besides, as a bar with its words."""
    if price.used is None or price.part is None:
        return ""
    after = price.used + price.part
    left = f"{100 * max(0.0, 1 - after):.3g} % would be left" if price.fits else "it does not fit"
    words = f"{100 * price.used:.3g} % of the budget is used, {100 * price.part:.3g} % more by this question; {left}"
    used, added = (f"{100 * min(part, 1.0):.4g}%" for part in (price.used, after))
    return (
        f'<svg role="img" aria-label="{escape(words)}"><rect width="100%" height="100%" fill="currentColor" '
        f'opacity=".12"/><rect width="{added}" height="100%" fill="currentColor" opacity=".35"/>'
        f'<rect width="{used}" height="100%" fill="currentColor" opacity=".75"/></svg><p>{escape(words)}</p>'
    )
