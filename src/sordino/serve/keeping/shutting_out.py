"""After a restoration from an old copy: everybody is shut out, for the copy has rights that were taken away since.

Whoever takes a right away (revokes a token, dismisses a member) has the ledger grow by a checkpoint, so that every copy
from before is known to be old: it is frozen until its owner restores it, and then nobody who is in it comes in.
"""

from __future__ import annotations

from sqlalchemy import delete, inspect, update

from .registry import milliseconds
from .tables import APPROVALS, MEMBERS, SESSIONS, TOKENS, plain_engine_at


def shut_everybody_out(database: str, by: str) -> tuple[int, int] | None:
    """Revoke every token, end every session, dismiss every member and deny what waits or was approved.

    Return how many tokens and members there were, or None if no service ever kept anything in this database.
    """
    engine = plain_engine_at(database)
    now = milliseconds()
    try:
        if not inspect(engine).has_table(TOKENS.name):
            return None
        open_wishes = APPROVALS.c.state.in_(("pending", "approved"))
        denied = {"state": "denied", "decided": now, "decided_by": by, "reason": "the ledger was restored; ask again"}
        with engine.begin() as connection:
            tokens = connection.execute(update(TOKENS).where(TOKENS.c.revoked.is_(None)).values(revoked=now)).rowcount
            members = connection.execute(delete(MEMBERS)).rowcount
            connection.execute(delete(SESSIONS))
            connection.execute(update(APPROVALS).where(open_wishes).values(**denied))
    finally:
        engine.dispose()
    return tokens, members
