"""Small services that speak as ours do where an audit asks: one that keeps its promise, and others that break it.

Each specimen is the honest one with one mistake that a real system has made. They run on loopback, in threads.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from audit.service_places import PERSON, rides
from servers import needs

TOKEN = "a-token-that-is-good"  # noqa: S105
BOUNDS = {"fare": (0, 100), "seats": (1, 8)}
KEYS = {"city": ["Oslo", "Rome", "Bern"]}
ROWS = 5
"""Of one person, so many rows count."""
_FORM = re.compile(
    r"SELECT (?:(?P<key>\w+), )?(?P<what>COUNT\(\*\)|SUM\(\w+\)|SUM\(CLIP\(CAST\(\w+ AS DOUBLE\), 0, 10\)\)) AS \w+ "
    r"FROM rides(?: GROUP BY (?P<by>\w+))?"
)


class Refusal(Exception):  # noqa: N818
    """What is said instead of an answer."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.response = JSONResponse({"error": {"code": code, "message": message, "help": "/"}}, status)


class Honest:
    """Parses, prices, charges, then touches data. One lock around each charge; keys are remembered."""

    delta = 1e-9

    def __init__(self, rows: dict[str, list[Any]], cap: float, seed: int) -> None:
        counted: Counter[Any] = Counter()
        kept = []
        for place, person in enumerate(rows["rider"]):
            counted[person] += 1
            if counted[person] <= ROWS:
                kept.append(place)
        self.rows = {name: [values[place] for place in kept] for name, values in rows.items()}
        self.cap = cap
        self.spent = 0.0
        self.charges = 0
        self.stored: dict[str, tuple[Any, dict[str, Any]]] = {}
        self.lock = threading.Lock()
        self.racing = threading.Lock()
        self.random = np.random.default_rng(seed)

    # ---- before data

    def read(self, question: dict[str, Any]) -> tuple[str, str | None, float]:
        """Return what is asked for, by which key, for how much."""
        epsilon = question.get("epsilon")
        try:
            amount = float(epsilon) if isinstance(epsilon, str | float | int) and not isinstance(epsilon, bool) else 0.0
        except ValueError:
            amount = 0.0
        if not 1e-9 < amount < math.inf or question.get("dataset") != "rides":
            raise Refusal(422, "SRD-A002", "epsilon must be a number above 0, and the data set is rides")
        form = _FORM.fullmatch(str(question.get("sql")))
        if form is None or form["key"] != form["by"] or form["key"] in ("rider", "fare", "seats", "tips"):
            raise Refusal(422, "SRD-Q001", "this cannot be read")
        return form["what"], form["key"], amount

    def scale(self, what: str, epsilon: float) -> float:
        """Return the scale of the noise."""
        column = re.search(r"SUM\((\w+)\)", what)
        if column is not None and column[1] not in BOUNDS:
            raise Refusal(422, "SRD-Q014", f"{column[1]} has no bounds")
        largest = BOUNDS[column[1]][1] if column is not None else 10 if "CLIP" in what else 1
        return largest * ROWS / epsilon

    def price(self, question: dict[str, Any]) -> dict[str, Any]:
        what, key, epsilon = self.read(question)
        width = self.scale(what, epsilon) * 3
        delta = "0" if key is None or key in KEYS else repr(self.delta)
        fits = self.spent + epsilon <= self.cap
        return {"epsilon": repr(epsilon), "delta": delta, "fits": fits, "columns": [{"half_widths": {"100": width}}]}

    def charge(self, epsilon: float) -> None:
        with self.lock:
            if self.spent + epsilon > self.cap * (1 + 1e-12):
                raise Refusal(402, "SRD-B001", "the budget does not cover it")
            self.spent += epsilon
            self.charges += 1

    # ---- with data

    def value(self, what: str, place: int) -> float:
        """Return what one row adds; what cannot be read as a number is 0."""
        if what == "COUNT(*)":
            return 1.0
        if "CLIP" in what:
            try:
                return min(max(float(self.rows["note"][place]), 0.0), 10.0)
            except ValueError:
                return self.unreadable(place)
        column = what[4:-1]
        low, high = BOUNDS.get(column, (-math.inf, math.inf))
        return min(max(float(self.rows[column][place]), low), high)

    def unreadable(self, _place: int) -> float:
        return 0.0

    def answer(self, what: str, key: str | None, epsilon: float) -> dict[str, Any]:
        sums: dict[Any, float] = dict.fromkeys(KEYS.get(key, []) if key else [None], 0.0)
        for place in range(len(self.rows["rider"])):
            group = None if key is None else self.rows[key][place]
            if group in sums or (key is not None and key not in KEYS):
                sums[group] = sums.get(group, 0.0) + self.value(what, place)
        with self.lock:
            noise = self.random.laplace(0, self.noise(what, epsilon), len(sums))
        noisy = {group: total + shift for (group, total), shift in zip(sums.items(), noise, strict=True)}
        shown = [group for group in noisy if key is None or key in KEYS or self.shown(noisy[group], what, epsilon)]
        values = [noisy[group] for group in shown]
        columns = [] if key is None else [{"name": key, "kind": "text", "values": shown}]
        noisy_column = {"name": "n", "kind": "real", "values": values, "low": values, "high": values}
        return {"columns": [*columns, noisy_column], "confidence": 0.95, "notes": [], "details": {"price": epsilon}}

    def noise(self, what: str, epsilon: float) -> float:
        return self.scale(what, epsilon)

    def shown(self, noisy: float, what: str, epsilon: float) -> bool:
        """A group is shown above a height that one person alone reaches with probability δ."""
        scale = self.scale(what, epsilon)
        return noisy > scale * epsilon + scale * math.log(1 / (2 * self.delta))

    def run(self, question: dict[str, Any], key: str | None) -> dict[str, Any]:
        what, by, epsilon = self.read(question)
        self.scale(what, epsilon)
        if key is None:
            return self.charged(what, by, epsilon)
        with self.racing:
            if key in self.stored:
                asked, found = self.stored[key]
                if asked != question:
                    raise Refusal(409, "SRD-L030", "this key was used before")
                return found | {"replayed": True}
            found = self.charged(what, by, epsilon)
            self.stored[key] = question, found
            return found

    def charged(self, what: str, by: str | None, epsilon: float) -> dict[str, Any]:
        self.charge(epsilon)
        return self.released(what, by, epsilon)

    def released(self, what: str, by: str | None, epsilon: float) -> dict[str, Any]:
        answer = self.answer(what, by, epsilon)
        return {"id": f"{time.time_ns()}", "answer": answer, "receipt": "none", "replayed": False}

    # ---- told

    def budget(self) -> dict[str, Any]:
        left = max(self.cap - self.spent, 0.0)
        shares = [{"analyst": "ann", "part": self.spent / self.cap, "charges": self.charges}]
        used = self.spent / self.cap
        return {"calculus": "pure", "used": used, "remaining_epsilon": left, "by_analyst": shares}

    def dataset(self) -> dict[str, Any]:
        columns: list[dict[str, Any]] = [{"name": "rider", "kind": "integer"}, {"name": "note", "kind": "text"}]
        columns += [{"name": name, "kind": "real", "bounds": ends} for name, ends in BOUNDS.items()]
        columns += [{"name": "tips", "kind": "real"}]
        columns += [{"name": name, "kind": "text", "keys": keys, "keys_in_all": 3} for name, keys in KEYS.items()]
        owned = {"by": "column", "column": "rider"}
        return {"name": "rides", "tables": [{"name": "rides", "owned": owned, "columns": columns}]}


# ---- mistakes -------------------------------------------------------------------------------------------------------


class LeaksKeys(Honest):
    """A group-by shows every key that is there."""

    def shown(self, *_: object) -> bool:
        return True


class LowThreshold(Honest):
    """A group-by shows keys above what one person adds, which noise reaches every other time."""

    def shown(self, noisy: float, *_: object) -> bool:
        return noisy > ROWS


class InfersBounds(Honest):
    """Bounds that nobody declared are read off the data, so that a price depends on one person."""

    def scale(self, what: str, epsilon: float) -> float:
        column = re.search(r"SUM\((\w+)\)", what)
        if column is not None and column[1] not in BOUNDS:
            return max(self.rows[column[1]]) * ROWS / epsilon
        return super().scale(what, epsilon)


class ChargesAfter(Honest):
    """Looks whether it fits, answers, and charges in the end."""

    def charged(self, what: str, by: str | None, epsilon: float) -> dict[str, Any]:
        if self.spent + epsilon > self.cap * (1 + 1e-12):
            raise Refusal(402, "SRD-B001", "the budget does not cover it")
        found = self.released(what, by, epsilon)
        time.sleep(0.2)
        with self.lock:
            self.spent += epsilon
            self.charges += 1
        return found


class Refunds(Honest):
    """A row that cannot be read fails the question, and what was charged is given back."""

    def charged(self, what: str, by: str | None, epsilon: float) -> dict[str, Any]:
        self.charge(epsilon)
        try:
            return self.released(what, by, epsilon)
        except ValueError:
            with self.lock:
                self.spent -= epsilon
                self.charges -= 1
            raise Refusal(424, "SRD-R001", "the engine could not finish this question") from None

    def unreadable(self, _place: int) -> float:
        raise ValueError


class TellsValues(Honest):
    """An error repeats the engine's own words, and with them a value."""

    def unreadable(self, place: int) -> float:
        raise Refusal(424, "SRD-R001", f"Conversion Error: Could not convert string '{self.rows['note'][place]}'")


class TooLittleNoise(Honest):
    """A third of the noise that the price is for."""

    def noise(self, what: str, epsilon: float) -> float:
        return self.scale(what, epsilon) / 3


class BareSums(Honest):
    """No noise on sums of a column whose lower bound is 0, and on nothing else."""

    def noise(self, what: str, epsilon: float) -> float:
        return 0.0 if what == "SUM(fare)" else super().noise(what, epsilon)


class WidthsOfData(Honest):
    """Prices by what is declared, and draws intervals by what the data holds."""

    def answer(self, what: str, key: str | None, epsilon: float) -> dict[str, Any]:
        found = super().answer(what, key, epsilon)
        shown = found["columns"][-1]
        if what == "SUM(seats)":
            width = float(sum(self.rows["seats"]))
            shown |= {"low": [at - width for at in shown["values"]], "high": [at + width for at in shown["values"]]}
        return found


class ForgetsKeys(Honest):
    """Idempotency keys are ignored: the same request is run and charged again."""

    def run(self, question: dict[str, Any], key: str | None) -> dict[str, Any]:
        return super().run(question, key and f"{key} {time.time_ns()}")


class OpenDoor(Honest):
    """Lets everybody in."""


class ChargesByData(Honest):
    """What was not needed is given back, so that the balance tells how much data there was."""

    def charged(self, what: str, by: str | None, epsilon: float) -> dict[str, Any]:
        found = super().charged(what, by, epsilon)
        with self.lock:
            self.spent -= epsilon * len(self.rows["rider"]) / 10**4
        return found


class TellsTheSize(Honest):
    """Says in a note how many rows it read."""

    def answer(self, what: str, key: str | None, epsilon: float) -> dict[str, Any]:
        return super().answer(what, key, epsilon) | {"notes": [f"{len(self.rows['rider'])} rows read"]}


class TakesAnyText(Honest):
    """Sends whatever it cannot read to its engine."""

    def read(self, question: dict[str, Any]) -> tuple[str, str | None, float]:
        try:
            return super().read(question)
        except Refusal as refusal:
            if b"SRD-Q001" not in refusal.response.body or "EXPLAIN" not in str(question.get("sql")):
                raise
            return "COUNT(*)", None, float(question["epsilon"])


# ---- on loopback ----------------------------------------------------------------------------------------------------


def application(found: Honest) -> FastAPI:
    """Return a service as an application with the addresses of ours."""
    app = FastAPI()

    @app.exception_handler(Refusal)
    def refused(_: Request, refusal: Refusal) -> JSONResponse:
        return refusal.response

    @app.middleware("http")
    async def known(request: Request, go_on: Any) -> Any:
        good = request.headers.get("authorization") == f"Bearer {TOKEN}"
        if good or isinstance(found, OpenDoor):
            return await go_on(request)
        return JSONResponse({"error": {"code": "SRD-S002", "message": "say who you are", "help": "/"}}, 401)

    app.get("/api/v1/datasets")(lambda: {"datasets": [{"name": "rides"}]})
    app.get("/api/v1/datasets/rides")(found.dataset)
    app.get("/api/v1/budgets/dataset/rides")(found.budget)

    @app.post("/api/v1/query/price")
    def price(question: dict[str, Any]) -> Any:
        return found.price(question)

    @app.post("/api/v1/query/run")
    def run(question: dict[str, Any], request: Request) -> Any:
        return found.run(question, request.headers.get("idempotency-key"))

    return app


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """Serve an application on loopback, in a thread, on a port that is free."""
    needs("service")
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)


@contextmanager
def neighbours(kind: type[Honest], cap: float = 100.0, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Serve a specimen on all people, and on all but one; give both addresses."""
    with ExitStack() as stack:
        yield tuple(  # type: ignore[misc]
            stack.enter_context(served(application(kind(rides(without=without), cap, 2 * seed + place))))
            for place, without in enumerate((None, PERSON))
        )
