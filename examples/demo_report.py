"""The demo's report: one page of HTML beside its plots in ``demo-out/``. All of it is post-processing of releases."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

matplotlib.use("agg")

FOLDER = Path("demo-out")
TEAL, GREY = "#00897b", "#78909c"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #263238 }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid #cfd8dc }
img { max-width: 100%; height: auto } pre { white-space: pre-wrap; background: #eceff1; padding: 1rem }
figure { margin: 1.5rem 0 } figcaption { color: #546e7a }
"""


@dataclass(frozen=True)
class Row:
    """One answered question, in words."""

    question: str
    answer: str
    error: str
    epsilon: str
    truth: str


@dataclass(frozen=True)
class Histogram:
    """Released counts with their error, and the truth, which only made-up data can show."""

    labels: tuple[str, ...]
    counts: list[int]
    truth: list[int]
    error: float


def write(rows: list[Row], histogram: Histogram, law: Any, draws: Any, explanation: Any) -> Path:
    """Write plots and page; return the page's path."""
    FOLDER.mkdir(exist_ok=True)
    _plot_histogram(histogram).savefig(FOLDER / "districts.png", dpi=120)
    _plot_noise(law, draws).savefig(FOLDER / "noise.png", dpi=120)
    _plot_spending(rows).savefig(FOLDER / "budget.png", dpi=120)
    explanation.plot().savefig(FOLDER / "trade-off.png", dpi=120)
    page = FOLDER / "report.html"
    page.write_text(_page(rows, str(explanation)), encoding="utf-8")
    return page


def _plot_histogram(histogram: Histogram) -> Figure:
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    counts, difference = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    places = np.arange(len(histogram.labels))
    counts.bar(places - 0.2, histogram.counts, 0.4, color=TEAL, label="released")
    counts.bar(places + 0.2, histogram.truth, 0.4, color=GREY, alpha=0.6, label="true")
    counts.set_ylabel("riders")
    counts.legend(frameon=False)
    off = np.array(histogram.counts) - np.array(histogram.truth)
    difference.errorbar(places, off, yerr=histogram.error, fmt="o", color=TEAL, capsize=4)
    difference.axhline(0, color=GREY, lw=1)
    difference.set_ylabel("released − true,\n± 95 %")
    difference.set_xticks(places, histogram.labels, rotation=20)
    for axes in (counts, difference):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _plot_noise(law: Any, draws: Any) -> Figure:
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    axes = figure.subplots()
    reach = 60
    values = np.arange(-reach, reach + 1)
    counted = np.bincount((draws + reach)[np.abs(draws) <= reach], minlength=values.size) / draws.size
    decay = np.exp(-1 / float(law.scale))
    axes.bar(values, counted, 1.0, color=TEAL, alpha=0.5, label=f"{draws.size:,} draws")
    axes.plot(values, (1 - decay) / (1 + decay) * decay ** np.abs(values), color="black", lw=1, label="the law")
    axes.set_xlabel("noise")
    axes.set_ylabel("probability")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _plot_spending(rows: list[Row]) -> Figure:
    figure = Figure(figsize=(8, 1.9), layout="constrained")
    axes = figure.subplots()
    left = 0.0
    for place, row in enumerate(rows):
        width = float(row.epsilon)
        axes.barh(0, width, left=left, color=TEAL, alpha=1 - 0.13 * place, edgecolor="white")
        axes.text(left + width / 2, 0, row.question.replace(" ", "\n", 1), ha="center", va="center", fontsize=7)
        left += width
    axes.axvline(1, color="black", lw=2)
    axes.set_xlim(0, 1.05)
    axes.set_yticks([])
    axes.set_xlabel("ε spent of 1")
    axes.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _page(rows: list[Row], words: str) -> str:
    body = "".join(
        f"<tr><td>{escape(row.question)}</td><td>{escape(row.answer)}</td><td>{escape(row.error)}</td>"
        f"<td>{row.epsilon}</td><td>{escape(row.truth)}</td></tr>"
        for row in rows
    )
    figures = "".join(
        f'<figure><img src="{name}.png" alt="{caption}"><figcaption>{caption}</figcaption></figure>'
        for name, caption in (
            (
                "districts",
                "Riders by district: what was released beside the truth, and how far it is off, with its error bar.",
            ),
            ("budget", "Where the budget went. The seventh question would have crossed the line."),
            ("trade-off", "What any attack on one rider can achieve at best, all six answers together."),
            ("noise", "The noise: drawn exactly, so the bars follow the law."),
        )
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>sordino: six private answers</title>'
        f"<style>{STYLE}</style><h1>Six private answers</h1><p>A made-up month of a bicycle scheme: 20,000 riders, one "
        f"trip each. Who is protected is the rider; ε = 1 in all.</p><table><tr><th>question<th>private answer"
        f"<th>± at 95 %<th>ε<th>true (the data is made up)</tr>{body}</table>{figures}<h2>What ε = 1 means</h2>"
        f"<pre>{escape(words)}</pre></html>"
    )
