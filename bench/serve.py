"""The service: how long prices take under many clients, beside an address that does nothing."""

from __future__ import annotations

from typing import Any

from measure import Bar, Call, Case, Measured, Verdict, duration

NOTES = """\
Fifty clients, each of which asks again as soon as it is answered, share two cores with the service. All questions are
different, so nothing remembered helps. The times are the 99th percentile of prices, ours, and the median of an address
that only finds out who is asking, under the same fifty clients. Prices are found in two processes
(`price_processes: 2`).
"""
"""What the page of documentation says above this room's table."""

CLIENTS, PROCESSES = 50, 2
SECONDS, LONG_SECONDS = 12.0, 60.0
LIMIT = 5.0


def cases() -> list[Case]:
    """Return the cases of this room."""
    single = [_case(f"price of a {name} by key", [name], SECONDS) for name in ("count", "sum", "mean")]
    return [
        *single,
        _case("prices of counts, sums and means in turn, for a minute", ["count", "sum", "mean"], LONG_SECONDS),
    ]


def _case(what: str, questions: list[str], seconds: float) -> Case:
    same: dict[str, Any] = {"clients": CLIENTS, "processes": PROCESSES}
    ours = Call("sordino_serve", "price", {"questions": questions, "seconds": seconds, **same})
    theirs = Call("sordino_serve", "nothing", {"seconds": SECONDS, **same})
    return Case(what, ours, theirs, beside_nothing(LIMIT), repeats=1, fresh=True)


def beside_nothing(times: float) -> Bar:
    """Our p99 is at most `times` the p50 of the address that does nothing, and no request failed."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        ratio, failures = ours.seconds / theirs.seconds, int(ours.values["failures"] + theirs.values["failures"])
        rate = ours.values["requests"] / ours.values["seconds"]
        figure = f"{ratio:.1f} ×, p50 {duration(ours.values['p50'])}, {rate:.0f}/s, {failures} failures"
        return Verdict(figure, f"≤ {times:g} × the p50 of nothing, no failure", ratio <= times and not failures)

    return judge
