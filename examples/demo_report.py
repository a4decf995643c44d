"""The demo's report: one page of HTML beside its plots in ``demo-out/``. All of it is post-processing of answers."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from sordino.query.answer.answer import Answer
from sordino.query.release.price import Price

matplotlib.use("agg")

FOLDER = Path("demo-out")
TEAL, GREY = "#00897b", "#78909c"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #263238 }
table { border-collapse: collapse } th, td { text-align: left; padding: .3rem .8rem; border-bottom: 1px solid #cfd8dc }
img { max-width: 100%; height: auto } pre { white-space: pre-wrap; background: #eceff1; padding: 1rem }
figure { margin: 1.5rem 0 } figcaption { color: #546e7a }
"""
CAPTIONS = {
    "districts": "The first answer beside the truth, which only made-up data can show; bars are intervals at 95 %.",
    "weekdays": "The fifth answer, as <code>answer.plot()</code> draws it: Monday is 1, the festival a Thursday.",
    "budget": "Where the budget went. The seventh question would have crossed the line.",
    "trade-off": "What any attack on one rider can achieve at best, all answers together.",
}


@dataclass(frozen=True)
class Asked:
    """One answered question."""

    question: str
    text: str
    price: Price
    answer: Answer

    @property
    def quote(self) -> str:
        """The price without its notes, which the answer has as well."""
        return str(self.price).partition("\nnote: ")[0]


def write(answered: list[Asked], truth: Any, budget: Any, explanation: Any) -> Path:
    """Write plots and page; return the page's path."""
    FOLDER.mkdir(exist_ok=True)
    figures = {
        "districts": _beside_the_truth(answered[0].answer, truth),
        "weekdays": answered[4].answer.plot(),
        "budget": _spending(answered, float(budget.budget.epsilon)),
        "trade-off": explanation.plot(),
    }
    for name, figure in figures.items():
        figure.savefig(FOLDER / f"{name}.png", dpi=120)
    page = FOLDER / "report.html"
    page.write_text(_page(answered, str(explanation)), encoding="utf-8")
    return page


def _beside_the_truth(answer: Answer, truth: Any) -> Figure:
    """For each district how far the released values are from the true ones, with their intervals."""
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    places = -np.arange(len(answer))  # the first on top
    for axes, name in zip(figure.subplots(1, 2, sharey=True), ("rides", "minutes"), strict=True):
        true = truth.loc[list(answer["district"]), name].to_numpy()
        low, high = answer.interval(name)
        off = answer[name] - true
        axes.errorbar(off, places, xerr=(off - (low - true), high - true - off), fmt="o", color=TEAL, capsize=4)
        axes.axvline(0, color=GREY, lw=1)
        axes.set_title(f"{name}, released − true", loc="left", fontsize=11)
        axes.set_yticks(places, answer["district"])
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _spending(answered: list[Asked], cap: float) -> Figure:
    figure = Figure(figsize=(8, 2.6), layout="constrained")
    axes = figure.subplots()
    left = 0.0
    for place, asked in enumerate(answered):
        width = float(asked.price.epsilon or 0)
        axes.barh(0, width, left=left, color=TEAL, alpha=1 - 0.13 * place, edgecolor="white", label=asked.question)
        left += width
    axes.axvline(cap, color="black", lw=2)
    axes.set_xlim(0, 1.05 * cap)
    axes.set_yticks([])
    axes.set_xlabel(f"ε spent of {cap:g}")
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.legend(loc="outside upper left", ncols=3, frameon=False, fontsize=8)
    return figure


def _page(answered: list[Asked], words: str) -> str:
    sections = "".join(
        f"<h2>{escape(asked.question)}</h2><pre>{escape(asked.text)}\n\n{escape(asked.quote)}</pre>"
        f"{asked.answer._repr_html_()}"
        for asked in answered
    )
    figures = "".join(
        f'<figure><img src="{name}.png" alt="{name}"><figcaption>{caption}</figcaption></figure>'
        for name, caption in CAPTIONS.items()
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>sordino: six private answers</title>'
        f"<style>{STYLE}</style><h1>Six private answers</h1><p>A made-up month of a bicycle scheme: 12,000 riders with "
        f"one to five rides each. Who is protected is the rider, whatever the number of rides; ε = 2 and δ = 10⁻⁹ in "
        f"all. Prices were known before any data was touched.</p>{figures}{sections}<h2>What this promises</h2>"
        f"<pre>{escape(words)}</pre></html>"
    )
