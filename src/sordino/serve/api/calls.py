"""How a request finds the service: who is asking is known, and not too often, before anything else is done.

Everything that works runs in threads, so that one long answer does not hold up the rest. Prices have threads of their
own, and where many are asked for processes (``price_processes.py``). A request changes threads once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from sordino.serve.asking.price_processes import PriceProcesses
from sordino.serve.http.limits import RateLimit
from sordino.serve.keeping.identity import Principal
from sordino.serve.refusals import UnauthenticatedError
from sordino.serve.service import Service

T = TypeVar("T")

_BEARER = HTTPBearer(auto_error=False, description="A token that an owner issued.")
_READERS = 8


class Desk:
    """What all requests share: the service, its threads, its limits."""

    def __init__(self, service: Service) -> None:
        settings = service.settings
        self.service = service
        elsewhere = settings.price_processes
        service.house.price_processes = PriceProcesses(elsewhere) if elsewhere else None
        # With processes, threads only wait, and one more prepares the next question. Without, two: more would only take
        # turns with each other, and behind one alone everybody would wait for a single hard question.
        self.pricing = ThreadPoolExecutor(elsewhere + 1 if elsewhere else 2, thread_name_prefix="sordino-price")
        self.reading = ThreadPoolExecutor(_READERS, thread_name_prefix="sordino-read")
        self.rate = RateLimit(settings.rate_per_minute, settings.rate_burst)
        self.unknown = RateLimit(settings.rate_per_minute, settings.rate_burst)

    def close(self) -> None:
        """End the threads."""
        self.pricing.shutdown(wait=True, cancel_futures=True)
        self.reading.shutdown(wait=True, cancel_futures=True)
        if self.service.house.price_processes is not None:
            self.service.house.price_processes.close()
            self.service.house.price_processes = None


class Call:
    """One request: `await call(function)` runs ``function(service, who)`` in a thread."""

    def __init__(self, request: Request, token: str | None) -> None:
        self.desk: Desk = request.app.state.desk
        self._request = request
        self._token = token

    async def __call__(self, function: Callable[[Service, Principal], T], pool: Executor | None = None) -> T:
        """Return what `function` returns for whoever is asking, or raise if nobody knows who that is."""

        def work() -> T:
            return function(self.desk.service, self._known())

        return await asyncio.get_running_loop().run_in_executor(pool or self.desk.reading, work)

    async def price(self, function: Callable[[Service, Principal], T]) -> T:
        """Do the same in the threads that find prices."""
        return await self(function, self.desk.pricing)

    async def even_unknown(self, function: Callable[[Service, Principal | None], T]) -> T:
        """Do the same for somebody who may be nobody."""
        if self._token is not None:
            return await self(function)

        def work() -> T:
            self.desk.unknown.check(self._address)
            return function(self.desk.service, None)

        return await asyncio.get_running_loop().run_in_executor(self.desk.reading, work)

    def _known(self) -> Principal:
        try:
            if self._token is None:
                raise UnauthenticatedError
            who = self.desk.service.identities.of_token(self._token)
        except UnauthenticatedError:
            self.desk.unknown.check(self._address)
            raise
        self.desk.rate.check(who.subject)
        self._request.state.subject = who.subject
        return who

    @property
    def _address(self) -> str:
        return self._request.client.host if self._request.client else "unknown"


async def _call(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)]
) -> Call:
    return Call(request, None if credentials is None else credentials.credentials)


Calling = Annotated[Call, Depends(_call)]
Plain = dict[str, Any]
