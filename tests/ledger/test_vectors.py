"""Vectors packed into one number add and compare as the vectors themselves do, up to saturation and at every cap."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting.columns import Vector, add
from sordino.accounting.units import LARGEST_CAP, SATURATED
from sordino.ledger.vectors import Lanes, packed, unpacked

UNITS = st.integers(0, SATURATED) | st.sampled_from([0, 1, SATURATED - 1, SATURATED])


@st.composite
def triples(draw: st.DrawFn) -> tuple[Vector, Vector, Vector]:
    """Return caps, what was spent and a charge, with sums that often meet a cap exactly."""
    width = draw(st.integers(2, 6))
    caps = tuple(draw(st.integers(0, LARGEST_CAP)) for _ in range(width))
    spent = tuple(draw(st.integers(0, cap) | UNITS) for cap in caps)
    charge = tuple(
        draw(UNITS | st.just(max(c - s, 0)) | st.just(max(c - s + 1, 0))) for c, s in zip(caps, spent, strict=True)
    )
    return caps, spent, charge


@given(triples())
@settings(deadline=None, max_examples=500)
def test_lanes_add_and_compare_as_vectors_do(given_: tuple[Vector, Vector, Vector]) -> None:
    caps, spent, charge = given_
    lanes, after = Lanes(caps), add(spent, charge)
    found = lanes.add(packed(spent), packed(charge))
    assert unpacked(found, len(caps)) == after
    within = [units <= cap for units, cap in zip(after, caps, strict=True)]
    assert lanes.fits(found) == (within[0] and any(within[1:]))


def test_caps_are_met_exactly() -> None:
    lanes = Lanes((3, LARGEST_CAP, 0))
    assert lanes.fits(packed((3, LARGEST_CAP, SATURATED)))
    assert not lanes.fits(packed((4, 0, 0)))
    assert not lanes.fits(packed((0, SATURATED, 1)))
    assert lanes.fits(packed((0, SATURATED, 0)))
