"""What can go wrong, sorted by what the caller should do about it.

    SordinoError
    ├── ArgumentError     the call's words are off: call again, corrected        SRD-A…, SRD-T…
    ├── UnsupportedError  this event has no curve in the calculus asked for      SRD-C…
    ├── QuestionError     the question cannot be answered as written: rewrite it  SRD-Q…
    ├── BudgetError       the budget does not cover the price                    SRD-B…
    ├── GrantError        a release without the permission that it needs         SRD-G…
    ├── LedgerError       the ledger is not what it must be, or not asked rightly SRD-L…
    │   ├── ConflictError a key that was used before came with another request
    │   └── FrozenError   the ledger takes nothing until its owner restores it
    ├── SourceError       the data's source does not answer; nothing was charged SRD-R…
    └── RunError          the engine failed; the charge stands                   SRD-R…

Every message says what was asked, why it cannot be and what to do instead, and ends in its code. Each code has an entry
in ``docs/reference/errors.md``. All but the last are raised before data is touched, so they may be rich and helpful; a
`RunError` is mute: it never holds a value, a row or an engine's own text.
"""

from __future__ import annotations


class SordinoError(Exception):
    """The root of every error that sordino raises on purpose; ``code`` names its entry in the documentation."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.message = message
        self.code = code

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"

    def __reduce__(self) -> tuple[type[SordinoError], tuple[str, str]]:
        return type(self), (self.message, self.code)


class ArgumentError(SordinoError, ValueError):
    """An argument is of the wrong kind, shape or size; nothing was drawn, charged or read."""


class UnsupportedError(SordinoError):
    """What was asked is well formed but has no sound answer in the calculus asked for."""


class QuestionError(SordinoError, ValueError):
    """A question is not one that can be answered privately as it is written; the message says what to write instead."""


class BudgetError(SordinoError):
    """The budget does not cover the price; nothing was charged and no data was touched."""


class GrantError(SordinoError):
    """A release was asked for without a grant, with a used one, or with one for something else."""


class LedgerError(SordinoError):
    """A ledger holds, or was asked to hold, what its rules do not allow; nothing was written."""


class ConflictError(LedgerError):
    """An idempotency key was used before for another request; nothing was charged."""


class FrozenError(LedgerError):
    """The ledger does not extend what its witness saw, so it takes no entry until its owner restores it."""


class SourceError(SordinoError):
    """The data's source does not answer; nothing was charged, and another time it may."""


class RunError(SordinoError):
    """The engine could not compute an answer that was already charged for. Says so, and nothing else."""
