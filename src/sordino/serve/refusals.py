"""What the service refuses, sorted by what the caller should do; each code has an entry in the documentation.

SordinoError
├── SettingsError         the service cannot start as it is set                    SRD-S010, S011
└── AccessError
    ├── UnauthenticatedError  say who you are: a token, or a new login             SRD-S002
    ├── ForbiddenError        your role does not allow it                          SRD-S003
    ├── UnknownError          there is no such thing, or it is another's           SRD-S004
    └── BusyError             too much at once: wait, then ask again               SRD-S005, S014
"""

from __future__ import annotations

from typing import Any

from sordino.errors import ConflictError, SordinoError

HELP = "/docs/errors"
"""Where the service explains codes."""
MUTE = ("SRD-S001", "something went wrong inside; what was charged stays charged, and the operator's log knows where")
"""What is said of mistakes of ours."""


def shape(code: str, message: str) -> dict[str, Any]:
    """Return the one JSON shape of an error."""
    return {"error": {"code": code, "message": message, "help": f"{HELP}#{code.lower()}"}}


class SettingsError(SordinoError):
    """The service cannot start as it is set; nothing was opened."""


class AccessError(SordinoError):
    """Who asks may not have what was asked for; nothing was charged."""


class UnauthenticatedError(AccessError):
    """Nobody knows who is asking."""

    def __init__(self, message: str = "", code: str = "SRD-S002") -> None:
        super().__init__(
            message or "say who you are: send 'Authorization: Bearer' with a token that is not expired or revoked", code
        )


class ForbiddenError(AccessError):
    """The role of whoever asks does not allow this."""

    def __init__(self, message: str, code: str = "SRD-S003") -> None:
        super().__init__(message, code)


class UnknownError(AccessError):
    """There is no such thing here, or it is another's; which of the two is not said."""

    def __init__(self, what: str, code: str = "SRD-S004") -> None:
        super().__init__(what if " " in what else f"there is no such {what} that you may see", code)

    def __reduce__(self) -> tuple[type[UnknownError], tuple[str, str]]:
        return type(self), (self.message, self.code)


class BusyError(AccessError):
    """Too much is asked at once; `after` says in how many seconds to ask again."""

    def __init__(self, message: str, code: str = "SRD-S005", after: float = 1.0) -> None:
        super().__init__(message, code)
        self.after = after

    def __reduce__(self) -> tuple[type[BusyError], tuple[str, str, float]]:  # type: ignore[override]
        return type(self), (self.message, self.code, self.after)


class StateError(ConflictError):
    """What was asked does not go with what is there already; nothing was changed."""
