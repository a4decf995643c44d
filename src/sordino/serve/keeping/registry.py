"""The registry: data sets, policies, approvals and jobs, as rows beside the ledger. It decides nothing about budgets.

Every change is one statement that says under which condition it may happen, so that replicas need no lock.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sqlalchemy import Engine, Insert, Row, Select, Update, and_, bindparam, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from sordino import noise
from sordino.gate import FREE, Policy

from .tables import APPROVALS, DATASETS, JOBS, engine_at

MOST_LISTED = 500
MOST_WISHES = 20
"""Releases of one analyst that may wait for approval."""
_DATASET = select(DATASETS).where(DATASETS.c.name == bindparam("wanted"))  # built once: every question asks it


def milliseconds() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def random_hex(size: int = 16) -> str:
    """Return so many random bytes as hexadecimal digits."""
    return bytes(noise.uniform(256, size).tolist()).hex()


def policy_text(policy: Policy) -> str:
    """Return a policy as JSON; parts are exact texts."""
    return json.dumps(plain_policy(policy), sort_keys=True)


def plain_policy(policy: Policy) -> dict[str, Any]:
    """Return a policy as what JSON can hold."""
    return {
        "least": str(policy.least),
        "most": str(policy.most),
        "approval": None if policy.approval is None else str(policy.approval),
        "pause": policy.pause,
        "degrade": policy.degrade,
    }


def read_policy(plain: Mapping[str, Any]) -> Policy:
    """Return the policy that `plain_policy` wrote."""
    approval = plain["approval"]
    return Policy(
        Fraction(plain["least"]),
        Fraction(plain["most"]),
        None if approval is None else Fraction(approval),
        plain["pause"],
        plain["degrade"],
    )


class Registry:
    """The service's own rows."""

    def __init__(self, database: str) -> None:
        self.engine: Engine = engine_at(database)

    def close(self) -> None:
        """Give connections back."""
        self.engine.dispose()

    def _one(self, asked: Select[Any], **given: Any) -> Row[Any] | None:
        with self.engine.connect() as connection:
            return connection.execute(asked, given).one_or_none()

    def _all(self, asked: Select[Any]) -> list[Row[Any]]:
        with self.engine.connect() as connection:
            return list(connection.execute(asked))

    def _changed(self, asked: Insert | Update) -> bool:
        """Carry out one statement, and return whether it changed a row."""
        with self.engine.begin() as connection:
            return bool(connection.execute(asked).rowcount)

    # Data sets

    def names(self) -> list[str]:
        """Return the names of all data sets, in order."""
        return [row.name for row in self._all(select(DATASETS.c.name).order_by(DATASETS.c.name))]

    def dataset(self, name: str) -> Row[Any] | None:
        """Return the row of a data set."""
        return self._one(_DATASET, wanted=name)

    def put_dataset(self, name: str, sort: str, declarations: str, owner: str) -> None:
        """Register a data set, or replace what is declared about it; its policy stays."""
        values = {"sort": sort, "declarations": declarations, "owner": owner, "time": milliseconds()}
        again = update(DATASETS).where(DATASETS.c.name == name).values(**values, version=DATASETS.c.version + 1)
        if self._changed(again):
            return
        try:
            self._changed(insert(DATASETS).values(name=name, policy=policy_text(FREE), version=1, **values))
        except IntegrityError:  # another owner was faster with the same name, and the later one counts
            self.put_dataset(name, sort, declarations, owner)

    def put_policy(self, name: str, policy: Policy) -> None:
        """Replace the policy of a data set."""
        self._changed(update(DATASETS).where(DATASETS.c.name == name).values(policy=policy_text(policy)))

    # Approvals

    def ask_approval(
        self, dataset: str, subject: str, digest: str, kind: str, question: str, message: str
    ) -> str | None:
        """Return the id under which a release waits for approval: that of an open wish for the same, or a new one.

        None if so many wishes of the subject wait that the owner would no longer see those of others.
        """
        mine = and_(APPROVALS.c.subject == subject, APPROVALS.c.state == "pending")
        with self.engine.begin() as connection:
            found = connection.execute(select(APPROVALS.c.id).where(mine, APPROVALS.c.digest == digest)).scalar()
            if found is not None:
                return str(found)
            if len(connection.execute(select(APPROVALS.c.id).where(mine).limit(MOST_WISHES)).all()) == MOST_WISHES:
                return None
            identifier = random_hex(8)
            connection.execute(
                insert(APPROVALS).values(
                    id=identifier,
                    dataset=dataset,
                    subject=subject,
                    digest=digest,
                    kind=kind,
                    question=question,
                    message=message,
                    state="pending",
                    created=milliseconds(),
                )
            )
        return identifier

    def approvals(self, subject: str | None = None) -> list[Row[Any]]:
        """Return the newest approvals, of one subject or of all; those that wait first."""
        asked = select(APPROVALS).order_by((APPROVALS.c.state != "pending"), APPROVALS.c.created.desc())
        if subject is not None:
            asked = asked.where(APPROVALS.c.subject == subject)
        return self._all(asked.limit(MOST_LISTED))

    def decide_approval(self, identifier: str, state: str, by: str, reason: str) -> bool:
        """Decide a wish that waits; return whether there was one."""
        return self._move(identifier, "pending", state=state, decided=milliseconds(), decided_by=by, reason=reason)

    def approval(self, identifier: str) -> Row[Any] | None:
        """Return one approval."""
        return self._one(select(APPROVALS).where(APPROVALS.c.id == identifier))

    def take_approval(self, subject: str, digest: str) -> str | None:
        """Use up an approval of exactly this, once; return its id, or None if there is none."""
        wanted = and_(APPROVALS.c.digest == digest, APPROVALS.c.subject == subject, APPROVALS.c.state == "approved")
        found = [row.id for row in self._all(select(APPROVALS.c.id).where(wanted))]
        return next((each for each in found if self._move(each, "approved", state="used")), None)

    def return_approval(self, identifier: str) -> None:
        """Give an approval back for which nothing was charged."""
        self._move(identifier, "used", state="approved")

    def _move(self, identifier: str, before: str, **values: Any) -> bool:
        asked = update(APPROVALS).where(APPROVALS.c.id == identifier, APPROVALS.c.state == before).values(**values)
        return self._changed(asked)

    # Jobs

    def put_job(self, **values: Any) -> None:
        """Write down a run that takes long."""
        self._changed(insert(JOBS).values(**values))

    def change_job(self, identifier: str, claim: str | None = None, **values: Any) -> None:
        """Write down how far a job is; with a claim, if that is still the one that holds."""
        mine = JOBS.c.id == identifier if claim is None else and_(JOBS.c.id == identifier, JOBS.c.claim == claim)
        self._changed(update(JOBS).where(mine).values(**values))

    def claim_job(self, identifier: str, claim: str, beat: int, dead_before: int) -> bool:
        """Give a job that was stopped, or whose process died, to another process; return whether it was to be had."""
        open_to_all = or_(JOBS.c.stage == "stopped", JOBS.c.beat < dead_before)
        asked = update(JOBS).where(JOBS.c.id == identifier, JOBS.c.finished.is_(None), open_to_all)
        values = {"claim": claim, "beat": beat, "stage": "waiting", "stopping": False}
        return self._changed(asked.values(**values))

    def beat_job(self, identifier: str, claim: str) -> bool:
        """Write down that a job's process lives; return whether it is to go on."""
        mine = and_(JOBS.c.id == identifier, JOBS.c.claim == claim, JOBS.c.stopping.is_(False))
        return self._changed(update(JOBS).where(mine).values(beat=milliseconds()))

    def living_jobs(self, dead_before: int) -> int:
        """Return how many processes carry jobs on now."""
        alive = and_(JOBS.c.finished.is_(None), JOBS.c.beat >= dead_before, JOBS.c.stage != "stopped")
        return len(self._all(select(JOBS.c.id).where(alive)))

    def job_of_key(self, key: str) -> Row[Any] | None:
        """Return the job in a process of its own under the digest of an idempotency key."""
        asked = select(JOBS).where(JOBS.c.key == key, JOBS.c.claim.is_not(None)).limit(1)
        return self._one(asked)

    def job(self, identifier: str) -> Row[Any] | None:
        """Return one job."""
        return self._one(select(JOBS).where(JOBS.c.id == identifier))

    def jobs(self, subject: str | None = None, limit: int = 50) -> list[Row[Any]]:
        """Return the newest jobs, of one subject or of all."""
        asked = select(JOBS).order_by(JOBS.c.created.desc()).limit(min(limit, MOST_LISTED))
        if subject is not None:
            asked = asked.where(JOBS.c.subject == subject)
        return self._all(asked)

    def unfinished_jobs(self, instance: str) -> list[Row[Any]]:
        """Return the jobs within a process of this name that it began and did not finish."""
        asked = select(JOBS).where(JOBS.c.instance == instance, JOBS.c.finished.is_(None), JOBS.c.claim.is_(None))
        return self._all(asked)

    def unfinished(self, key: str) -> bool:
        """Return whether there is a job under the digest of an idempotency key that nobody has finished."""
        asked = select(JOBS.c.id).where(JOBS.c.key == key, JOBS.c.finished.is_(None)).limit(1)
        return bool(self._all(asked))
