"""Envelopes: a report sealed for the analyser, and that sealed once more for the shuffler.

**Guarantee**: who carries an envelope learns nothing but its survey; the shuffler learns neither the report nor its id;
the analyser, who gets a batch without the outer layer, cannot tell which envelope a report came in, whatever it saw of
the network. All envelopes of a survey have one length.
**Assumes**: analyser and shuffler do not work together.
"""

from __future__ import annotations

from sordino.collect.sealing import OVERHEAD, PartyKey, seal
from sordino.collect.surveys import Survey
from sordino.collect.wire import HEADER, Report

_INNER = b"sordino report 1 "
_OUTER = b"sordino envelope 1 "


def inner_length(survey: Survey) -> int:
    """Return how many bytes a report has that is sealed for the analyser."""
    return HEADER + survey.randomizer.size + OVERHEAD


def length(survey: Survey) -> int:
    """Return how many bytes an envelope has."""
    return inner_length(survey) + OVERHEAD


def enveloped(survey: Survey, report: Report) -> bytes:
    """Return a report in its envelope, to be sent to the shuffler. It costs nothing: the device paid for the report."""
    analyser, shuffler = survey.parties
    inner = seal(analyser.public, _INNER + survey.digest, report.to_bytes())
    return seal(shuffler.public, _OUTER + survey.digest, inner)


def unwrapped(survey: Survey, shuffler: PartyKey, envelope: bytes) -> bytes | None:
    """Return what lies in an envelope, still sealed for the analyser; None for what is no envelope of the survey."""
    if len(envelope) != length(survey):
        return None
    return shuffler.opened(_OUTER + survey.digest, envelope)


def opened(survey: Survey, analyser: PartyKey, inner: bytes) -> bytes | None:
    """Return the report that was sealed for the analyser; None for what is none."""
    return analyser.opened(_INNER + survey.digest, inner)
