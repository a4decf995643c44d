"""The intake of surveys over HTTP: acknowledged is synced. Beside a POST of the same framework that does nothing."""

from __future__ import annotations

from measure import Call, Case, Measured, Verdict

NOTES = """\
Thirty-two connections share two cores with the service; each report is new. An address that does nothing is a route of
FastAPI on uvicorn that reads the body. Batches hold a thousand reports of 50 bytes, from four connections. One request
comes before time is taken: with it the service imports what surveys need. That fifty SIGKILLs lose nothing and double
nothing is a test's affair.
"""
"""What the page of documentation says above this room's table."""

CLIENTS, SECONDS = 32, 4.0
LEAST_RATIO, LEAST_RATE = 0.4, 100_000


def cases() -> list[Case]:
    """Return the cases of this room."""
    same = {"clients": CLIENTS, "seconds": SECONDS}
    one = Call("sordino_intake", "singles", same)
    return [
        Case("one report a request", one, Call("sordino_intake", "nothing", same), _beside_nothing, 3, fresh=True),
        Case("batches of 1,000", Call("sordino_intake", "batches", {"clients": 4, "count": 400}), None, _rate, 3),
    ]


def _beside_nothing(ours: Measured, theirs: Measured | None) -> Verdict:
    assert theirs is not None
    ratio = theirs.seconds / ours.seconds
    figure = f"{ratio:.2f} × as many as nothing, {1 / ours.seconds:,.0f}/s"
    return Verdict(figure, f"≥ {LEAST_RATIO} × a POST that does nothing", ratio >= LEAST_RATIO)


def _rate(ours: Measured, _: Measured | None) -> Verdict:
    rate = 1 / ours.seconds
    return Verdict(f"{rate:,.0f} reports/s", f"≥ {LEAST_RATE:,} reports/s", rate >= LEAST_RATE)
