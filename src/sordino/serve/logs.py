"""Logs: one JSON object on each line, of fields that are named here and no others.

**Guarantee**: no record holds a value of data, a text of a question, a token or an address with its parameters. What
went wrong inside is told by the kind of the error and the places in the code that it went through, never by its words,
unless the setting `debug` is on, which production refuses.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

LOGGER = logging.getLogger("sordino.serve")

_FIELDS = frozenset(
    {
        "request",
        "method",
        "route",
        "status",
        "milliseconds",
        "subject",
        "code",
        "error",
        "places",
        "job",
        "stage",
        "host",
        "port",
        "detail",
    }
)


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of JSON; records of other libraries lose their words."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        ours = record.name == LOGGER.name
        plain: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "what": record.msg if ours else f"a record of {record.name}",
        }
        if ours:
            plain |= {name: value for name, value in vars(record).items() if name in _FIELDS and value is not None}
        return json.dumps(plain, ensure_ascii=False, default=str)


def install(stream: TextIO | None = None) -> logging.Handler:
    """Send the service's records, and those of the libraries that it uses, to a stream; return the handler."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    return handler


def tell(what: str, **fields: Any) -> None:
    """Write a record; `what` is a constant text, and all else is in the fields."""
    LOGGER.info(what, extra=fields)


def tell_failure(what: str, error: BaseException, *, debug: bool, **fields: Any) -> None:
    """Write down that something went wrong inside: where, and of which kind, and its words only in debugging."""
    places = [
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)
    ]
    detail = str(error) if debug else None
    LOGGER.error(what, extra={**fields, "error": type(error).__name__, "places": places[-8:], "detail": detail})
