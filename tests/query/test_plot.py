from __future__ import annotations

import builtins
import io
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from query.answers import COUNT, by_city, by_day, counts, histogram, question
from sordino.data.kinds import Kind
from sordino.errors import ArgumentError, UnsupportedError
from sordino.query.answer.arrange import assemble
from sordino.query.estimate.estimate import Chosen
from sordino.query.model.expression import ColumnRef


def drawn(figure: Figure) -> bytes:
    """Draw the figure, which is when matplotlib finds out what is wrong with it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=50)
    return buffer.getvalue()


def labels(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def test_short_keys_are_bars_with_error_bars() -> None:
    figure = by_city(["a", "b", "c", "d"]).plot()
    assert drawn(figure)
    trips, fare = figure.axes
    assert trips.get_title(loc="left") == "trips"
    assert fare.get_title(loc="left") == "fare"
    assert labels(trips.xaxis) == ["a", "b", "c", "d"]
    assert [bar.get_height() for bar in trips.patches] == [1000, 670, 340, 10]
    (segments,) = [each.get_segments() for each in trips.collections]
    assert segments[0][:, 1].tolist() == [970, 1030]


def test_columns_can_be_chosen() -> None:
    assert len(by_city().plot("fare").axes) == 1
    with pytest.raises(ArgumentError, match="did you mean"):
        by_city().plot("fares")
    with pytest.raises(ArgumentError, match="no noisy numbers"):
        by_city().plot("city")


def test_long_or_many_keys_lie_down_and_are_cut() -> None:
    figure = by_city([f"district number {place}" for place in range(100)]).plot("trips")
    assert drawn(figure)
    (axes,) = figure.axes
    assert len(axes.patches) == 60
    assert axes.get_title(loc="right") == "first 60 of 100 rows"
    assert labels(axes.yaxis)[0] == "district number 0"


def test_dates_are_lines_one_for_each_other_key() -> None:
    figure = by_day(["Mill", "Old Town"]).plot()
    assert drawn(figure)
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == ["Mill", "Old Town"]
    assert axes.get_legend() is not None
    assert axes.lines[1].get_ydata().tolist() == list(range(10, 20))


def test_too_many_lines_are_cut_and_long_ones_have_no_marks() -> None:
    figure = by_day([f"city {place}" for place in range(12)], days=50).plot()
    assert drawn(figure)
    (axes,) = figure.axes
    assert len(axes.lines) == 8
    assert axes.get_title(loc="right") == "first 8 of 12 groups"


def test_a_date_alone_is_one_line() -> None:
    values = {"k1": by_day(["x"])["day"], "a0": counts(*range(10))}
    asked = question([("day", ColumnRef(Kind.DATE, "k1")), ("trips", COUNT)])
    figure = assemble(asked, values).plot()
    assert drawn(figure)
    assert figure.axes[0].get_legend() is None


def test_histograms_are_steps() -> None:
    figure = histogram(["Mill", "Old Town"]).plot()
    assert drawn(figure)
    (axes,) = figure.axes
    assert labels(axes.xaxis) == ["[0, 1)", "[1, 2)", "[2, 9)"]
    assert [step.get_data().values.tolist() for step in axes.patches] == [[0, 10, 20], [0, 10, 20]]


def test_lists_without_labels_are_numbered_and_many_groups_are_cut() -> None:
    figure = histogram([f"c{place}" for place in range(10)], None).plot()
    assert drawn(figure)
    assert labels(figure.axes[0].xaxis) == ["1", "2", "3"]
    assert figure.axes[0].get_title(loc="right") == "first 8 of 10 groups"
    assert drawn(histogram(["a"], ("x" * 30, "y" * 30, "z" * 30)).plot())


def test_an_answer_without_keys_is_one_bar_each() -> None:
    figure = assemble(question([("trips", COUNT)]), {"a0": counts(7)}).plot()
    assert drawn(figure)
    assert len(figure.axes[0].patches) == 1


def test_nothing_to_draw_is_an_empty_figure() -> None:
    assert drawn(by_city().head(0).plot("trips"))
    assert drawn(assemble(question([("city", ColumnRef(Kind.TEXT, "k0"))]), {"k0": ["a"]}).plot())


def test_open_and_missing_values_are_drawn_without_bars() -> None:
    open_ended = Chosen(np.array([1.0, np.nan, 2.0]), lambda _: (np.full(3, -np.inf), np.full(3, np.inf)))
    asked = question([("k", ColumnRef(Kind.TEXT, "k0")), ("x", COUNT)])
    assert drawn(assemble(asked, {"k0": ["a", "b", "c"], "a0": open_ended}).plot())


def test_formulas_and_underscores_in_keys_are_plain_text() -> None:
    figure = by_day(["$\\frac{1}", "_hidden"]).plot()
    assert drawn(figure)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [r"\$\frac{1}", " _hidden"]
    assert drawn(by_city(["$x$", "_y", "$"]).plot())


def test_the_confidence_is_said() -> None:
    figure = by_city().plot(confidence=0.5)
    assert "intervals at 50 %, noise only" in [text.get_text() for text in figure.texts]


def test_without_matplotlib_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnsupportedError, match="pip install"):
        by_city().plot()
