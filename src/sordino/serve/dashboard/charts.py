"""Drawings as Vega-Lite specifications: plain dictionaries without colours, which the style sheet gives.

Names of columns come from questions and names of analysts from tokens, so no field of a specification is called by
them: Vega-Lite reads dots and brackets in the names of fields as a way into an object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Spec = dict[str, Any]

MOST_ROWS = 40
"""Rows that a drawing of an answer shows; the table has all of them."""
MOST_PANELS = 6
MOST_MOMENTS = 1000
"""Rows of a drawing over time."""
MOST_SERIES = 8
_DATES = ("date", "timestamp")
_ROW_HEIGHT = 26
_AXIS_HEIGHT = 40


def burn_down(points: Sequence[tuple[str, float]], refreshed: bool = False) -> Spec:
    """Return how much of a budget is left over time: down a step at every charge."""
    left = [{"time": time, "left": max(0.0, 1 - used)} for time, used in points]
    return _whole(
        {
            "data": {"values": left},
            "height": 200,
            "mark": {"type": "area", "interpolate": "step-after", "line": {"strokeWidth": 2}, "fillOpacity": 0.15},
            "encoding": {
                "x": {"field": "time", "type": "temporal", "title": None, "axis": {"tickCount": 5, "grid": False}},
                "y": {
                    "field": "left",
                    "type": "quantitative",
                    "title": "left in this period" if refreshed else "left",
                    "stack": None,
                    "scale": {"domain": [0, 1]},
                    "axis": {"format": "%", "tickCount": 5},
                },
            },
        }
    )


def by_analyst(shares: Sequence[Mapping[str, Any]]) -> Spec:
    """Return which part of the budget each analyst has spent, all periods together."""
    rows = [{"analyst": each["analyst"], "part": each["part"]} for each in shares[:MOST_ROWS]]
    return _whole(
        {
            "data": {"values": rows},
            "height": _height(rows),
            "mark": {"type": "bar", "height": 14},
            "encoding": {
                "y": {"field": "analyst", "type": "nominal", "sort": None, "title": None},
                "x": {"field": "part", "type": "quantitative", "title": "part of the budget", "axis": {"format": "%"}},
            },
        }
    )


def allocation(releases: Sequence[Mapping[str, Any]]) -> Spec:
    """Return which part of the budget each release cost, from the first to the newest."""
    rows = [{"place": place, "part": each["part"]} for place, each in enumerate(reversed(releases), 1)]
    labels = {} if len(rows) <= MOST_ROWS else {"labels": False, "ticks": False}
    return _whole(
        {
            "data": {"values": rows},
            "height": 200,
            "mark": {"type": "bar"},
            "encoding": {
                "x": {"field": "place", "type": "ordinal", "title": "release", "axis": {"labelAngle": 0, **labels}},
                "y": {"field": "part", "type": "quantitative", "title": "part of the budget", "axis": {"format": "%"}},
            },
        }
    )


def intervals(answer: Mapping[str, Any]) -> list[tuple[str, Spec]]:
    """Return the noisy columns of an answer, each with a drawing of its intervals; those that can be drawn."""
    noisy = [column for column in answer["columns"] if "low" in column and _drawable(column)][:MOST_PANELS]
    dates = [column for column in answer["columns"] if "low" not in column and column["kind"] in _DATES]
    if len(dates) == 1 and len(dates[0]["values"]) > 1:
        series = _joined([each for each in answer["columns"] if "low" not in each and each is not dates[0]])
        return [(column["name"], _over_time(column, dates[0]["values"], series)) for column in noisy]
    labels = row_labels(answer)
    alone = len(labels) == 1 and not any(labels)
    return [(column["name"], _panel(column, labels[:MOST_ROWS], alone)) for column in noisy]


def drawn_rows(answer: Mapping[str, Any]) -> int:
    """Return how many rows of an answer its drawings show, at most."""
    dates = [column for column in answer["columns"] if "low" not in column and column["kind"] in _DATES]
    return MOST_MOMENTS if len(dates) == 1 else MOST_ROWS


def row_labels(answer: Mapping[str, Any]) -> list[str]:
    """Return what each row is about: its columns without noise, in words; no two rows are called the same."""
    count = max((len(column["values"]) for column in answer["columns"]), default=0)
    labels = _joined([column for column in answer["columns"] if "low" not in column]) or [""] * count
    found: dict[str, int] = {}
    for row, label in enumerate(labels):
        found[f"{label} ({row + 1})" if label in found else label] = row
    return list(found)


def _joined(columns: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the values of columns in words, row by row; nothing if there are none."""
    values = [["none" if each is None else str(each) for each in column["values"]] for column in columns]
    return [" · ".join(row) for row in zip(*values, strict=True)]


def _drawable(column: Mapping[str, Any]) -> bool:
    return any(isinstance(value, int | float) and not isinstance(value, bool) for value in column["values"])


def _panel(column: Mapping[str, Any], labels: Sequence[str], alone: bool) -> Spec:
    """Return a point and a line for each row, from the top down in the order of the answer."""
    rows = []
    for place, label in enumerate(labels):
        value, low, high = (column[name][place] for name in ("values", "low", "high"))
        if value is not None:
            rows.append({"row": label, "place": place, "value": value, "low": low, "high": high})
    y: Spec = {"field": "row", "type": "nominal", "sort": {"field": "place"}, "title": None}
    if alone:
        y["axis"] = None
    return _whole(
        {
            "height": _height(rows),
            "encoding": {"y": y},
            "layer": [
                {
                    "data": {"values": [row for row in rows if row["low"] is not None and row["high"] is not None]},
                    "mark": {"type": "rule", "strokeWidth": 2, "strokeCap": "round", "opacity": 0.6},
                    "encoding": {"x": _value("low"), "x2": {"field": "high"}},
                },
                {
                    "data": {"values": rows},
                    "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                    "encoding": {"x": _value("value")},
                },
            ],
        }
    )


def _over_time(column: Mapping[str, Any], moments: Sequence[Any], series: Sequence[str]) -> Spec:
    """Return a line with a band around it for each series; moments are shown as they stand in the answer."""
    names = list(dict.fromkeys(series))[:MOST_SERIES]
    named = series or [""] * len(moments)
    told = list(zip(moments, named, *(column[each] for each in ("values", "low", "high")), strict=True))
    rows = [
        {"moment": _moment(moment), "series": name, "value": value, "low": low, "high": high}
        for moment, name, value, low, high in told[:MOST_MOMENTS]
        if moment is not None and value is not None and (not names or name in names)
    ]
    axis: Spec = {"tickCount": 6, "grid": False}
    x: Spec = {"field": "moment", "type": "temporal", "title": None, "scale": {"type": "utc"}, "axis": axis}
    encoding: Spec = {"x": x}
    if len(names) > 1:
        encoding["color"] = {"field": "series", "type": "nominal", "title": None, "legend": {"orient": "top"}}
    return _whole(
        {
            "height": 240,
            "encoding": encoding,
            "layer": [
                {
                    "data": {"values": [row for row in rows if row["low"] is not None and row["high"] is not None]},
                    "mark": {"type": "area", "opacity": 0.2},
                    "encoding": {"y": _value("low"), "y2": {"field": "high"}},
                },
                {
                    "data": {"values": rows},
                    "mark": {"type": "line", "point": len(rows) <= MOST_ROWS},
                    "encoding": {"y": _value("value")},
                },
            ],
        }
    )


def _moment(text: str) -> str:
    return f"{text}Z" if "T" in text else text


def _value(field: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": None, "scale": {"zero": False}, "axis": {"tickCount": 6}}


def _height(rows: Sequence[Any]) -> int:
    return _ROW_HEIGHT * max(1, len(rows)) + _AXIS_HEIGHT


def _whole(spec: Spec) -> Spec:
    return {"width": "container", "autosize": {"type": "fit", "contains": "padding"}, **spec}
