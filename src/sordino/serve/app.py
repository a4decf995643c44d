"""The application: a service behind HTTP, with its API, its pages and its metrics.

>>> from sordino.serve.app import create_app  # doctest: +SKIP
>>> app = create_app(Service.open(Settings.load()))  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

from sordino.version import VERSION

from . import dashboard
from .api import asking, ledger, operating, owning, released, witnessing
from .api.calls import Desk
from .http import error_pages, oidc, problems
from .http.doors import Door
from .http.metrics import Metrics
from .service import Service

STATIC = Path(__file__).parent / "static"


def create_app(service: Service) -> FastAPI:
    """Return the application for an open service, which whoever opened it closes."""
    app = FastAPI(
        title="sordino",
        version=VERSION,
        summary="Questions about people's data, each priced before data is touched and charged to one ledger.",
        openapi_url=None,  # served for whoever has a token, by the operators' routes
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        lifespan=_lifespan,
        redirect_slashes=False,
    )
    app.state.desk = Desk(service)
    app.state.metrics = Metrics()
    app.add_middleware(
        Door,
        metrics=app.state.metrics,
        largest=service.settings.largest_request,
        debug=service.settings.debug,
        secure=service.settings.secure_cookies,
        tell=dashboard.at_the_door,
    )
    for kind in service.house.kinds.values():
        if kind.beside is not None:
            app.add_middleware(kind.beside(), service=service)
    problems.install(app)
    dashboard.install(app)
    kinds = service.house.kinds.values()
    own = [made(kind) for kind in kinds for made in (asking.router_of, asking.open_router_of)]
    for router in (asking.router, released.router, ledger.router, owning.router, *own):
        app.include_router(router, prefix="/api/v1")
    app.include_router(operating.router)
    app.include_router(witnessing.router)
    app.include_router(oidc.router)
    app.add_api_route("/docs/errors", _errors, include_in_schema=False, response_class=HTMLResponse)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.include_router(dashboard.router)
    for kind in kinds:
        if kind.pages is not None:
            app.include_router(kind.pages(), include_in_schema=False)
    return app


async def _errors() -> str:
    return error_pages.page()


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.desk.close()
