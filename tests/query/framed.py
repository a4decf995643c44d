"""A schema for the tests of the dataframe way: two private tables of people, a child of one, and a public table."""

from __future__ import annotations

from typing import Any

from sordino.accounting.bound import ROW, Unit
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column, Limits, OwnedByColumn, OwnedByParent, OwnedByRow, Public, Schema, Table
from sordino.query.frame import aggregates as so
from sordino.query.frame.draft import Arranged, Draft
from sordino.query.frame.expression import Formula
from sordino.query.frame.frame import Frame
from sordino.query.model.question import Question

_TRIPS = {
    "rider": Column(Kind.INTEGER),
    "trip": Column(Kind.INTEGER),
    "city": Column(Kind.TEXT, keys=("Oslo", "Rome", "Bern")),
    "fare": Column(Kind.REAL, Range.of(0, 100), nullable=False),
    "tip": Column(Kind.REAL, Range.of(0, 20)),
    "seats": Column(Kind.INTEGER, Range.of(1, 8)),
    "day": Column(Kind.DATE),
    "start": Column(Kind.TIMESTAMP),
    "paid": Column(Kind.BOOLEAN),
    "note": Column(Kind.TEXT),
}
_RATINGS = {"rider": Column(Kind.INTEGER), "city": Column(Kind.TEXT), "stars": Column(Kind.INTEGER, Range.of(1, 5))}
_CITIES = {"city": Column(Kind.TEXT), "country": Column(Kind.TEXT), "mayor": Column(Kind.INTEGER)}
_STOPS = {"trip": Column(Kind.INTEGER), "minutes": Column(Kind.REAL, Range.of(0, 60))}

PEOPLE = Schema(
    "taxi",
    {
        "trips": Table("trips", _TRIPS, OwnedByColumn("rider"), Limits(rows=5)),
        "ratings": Table("ratings", _RATINGS, OwnedByColumn("rider"), Limits(rows=2)),
        "stops": Table("stops", _STOPS, OwnedByParent("trip", "trips", "trip")),
        "cities": Table("cities", _CITIES, Public()),
    },
    Unit("rider"),
)
ROWS = Schema(
    "taxi",
    {"trips": Table("trips", _TRIPS, OwnedByRow()), "cities": Table("cities", _CITIES, Public())},
    ROW,
)


def table(name: str, schema: Schema = PEOPLE) -> Frame[Question]:
    return Frame.over(schema, name, lambda draft: draft.question)


def relation_of(frame: Frame[Any]) -> object:
    return frame.scope.relation


class Arrangeable(Arranged):
    """A question that is never run."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self.question = draft.question
        self.text = draft.text

    def _redrafted(self, draft: Draft) -> Arrangeable:
        return Arrangeable(draft)

    @staticmethod
    def of(**aggregates: Formula) -> Arrangeable:
        """The rides and the mean fare of each city, or other aggregates."""
        asked = aggregates or {"rides": so.count(), "fare": so.mean("fare")}
        return Frame.over(PEOPLE, "trips", Arrangeable).group_by("city").agg(**asked)
