"""Errors over HTTP: one JSON shape for all of them, with a code that the documentation explains.

::

    {"error": {"code": "SRD-B001", "message": "…", "help": "/docs/errors#srd-b001"}}

| status | what it means | which |
|---|---|---|
| 401 | nobody knows who is asking | `UnauthenticatedError` |
| 402 | the budget, or the owner's policy, does not cover it; nothing was charged | `BudgetError`, `ApprovalError` |
| 403 | the role does not allow it | `ForbiddenError` |
| 404 | there is no such thing, or it is another's | `UnknownError` |
| 409 | it does not go with what is there: a used key, another budget | `ConflictError`, `LedgerError` |
| 413 | the request is too large | SRD-S006 |
| 422 | the words are off, or the question cannot be answered privately as written | `ArgumentError`, `QuestionError` |
| 424 | the engine failed after the charge; mute, and the charge stands | `RunError` |
| 429 | too much at once, or the owner's pause; ``Retry-After`` says when | `BusyError`, SRD-B003 |
| 500 | a mistake of ours; mute | anything else |
| 503 | the ledger is frozen, or its database cannot be reached; nothing is charged or answered | `FrozenError` |

A failed run is no 5xx: the service did what it should, and to try again would be charged again.
"""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from sordino import errors
from sordino.serve.refusals import MUTE, BusyError, ForbiddenError, UnauthenticatedError, UnknownError, shape

_BY_CLASS: tuple[tuple[type[errors.SordinoError], int], ...] = (
    (UnauthenticatedError, 401),
    (ForbiddenError, 403),
    (UnknownError, 404),
    (BusyError, 429),
    (errors.ArgumentError, 422),
    (errors.QuestionError, 422),
    (errors.UnsupportedError, 422),
    (errors.BudgetError, 402),
    (errors.FrozenError, 503),
    (errors.ConflictError, 409),
    (errors.LedgerError, 409),
    (errors.SourceError, 503),
    (errors.RunError, 424),
)
_BY_CODE = {
    "SRD-B003": 429,
    **dict.fromkeys(("SRD-L070", "SRD-L072", "SRD-L022"), 404),
    **dict.fromkeys((f"SRD-L{number:03d}" for number in (*range(3, 11), 20, 29)), 422),
    **dict.fromkeys(("SRD-L050", "SRD-L051", "SRD-L054", "SRD-L055", "SRD-L063", "SRD-S018", "SRD-S021"), 503),
}
_BY_STATUS = {
    404: ("SRD-S004", "there is nothing at this address; /api/v1/openapi.json lists all there is"),
    405: ("SRD-S007", "this address does not know this method; the Allow header names those that it knows"),
    413: ("SRD-S006", "the request is larger than this service takes"),
}


def status_of(error: errors.SordinoError) -> int:
    """Return the HTTP status that an error is told by."""
    if error.code in _BY_CODE:
        return _BY_CODE[error.code]
    return next((status for kind, status in _BY_CLASS if isinstance(error, kind)), 500)


def problem(error: errors.SordinoError) -> JSONResponse:
    """Return the response for an error of ours; one that is a mistake of ours is mute."""
    status = status_of(error)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return JSONResponse(shape(*MUTE), status)
    headers = {"x-sordino-code": error.code}
    if isinstance(error, UnauthenticatedError):
        headers["www-authenticate"] = "Bearer"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        headers["retry-after"] = str(max(1, round(error.after))) if isinstance(error, BusyError) else "60"
    return JSONResponse(shape(error.code, error.message), status, headers)


def install(app: FastAPI) -> None:
    """Let an application tell all its errors in the one shape."""
    for kind in (errors.SordinoError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _told)


async def _told(_: Request, error: Exception) -> JSONResponse:
    return response_for(error)


def response_for(error: Exception) -> JSONResponse:
    """Return the response for an error of ours, for words that are not those of the API, or for what HTTP refuses."""
    if isinstance(error, errors.SordinoError):
        return problem(error)
    if isinstance(error, RequestValidationError):
        return _malformed(error)
    assert isinstance(error, HTTPException)  # noqa: S101  (registered for nothing else)
    return _http(error)


def _malformed(error: RequestValidationError) -> JSONResponse:
    """Say where a request is not of the form that the API describes, without what it held."""
    said = []
    for each in error.errors()[:5]:
        place = ".".join(str(part)[:60] for part in each["loc"])
        said.append(f"{place}: {_WORDS.get(each['type'], 'is not what the API describes')}")
    return JSONResponse(shape("SRD-S007", "the request is not of the form described: " + "; ".join(said)), 422)


_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not a field that there is",
    "json_invalid": "is not JSON",
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
}


def _http(error: HTTPException) -> JSONResponse:
    code, message = _BY_STATUS.get(error.status_code, ("SRD-S007", "the request cannot be read; see the documentation"))
    return JSONResponse(shape(code, message), error.status_code, error.headers)
