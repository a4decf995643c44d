"""What the service keeps beside the ledger, in the same database, in tables of its own.

``serve_version``    one row: the revision of these tables, of those in ``serve/migrations``
``serve_datasets``   sort, declarations as YAML, the owner's policy, who registered them, and how often they changed
``serve_tokens``     digests of tokens, with role, data sets, expiry and revocation; no token is ever stored
``serve_members``    who may come in by single sign-on, in which role
``serve_sessions``   digests of the browsers' cookies
``serve_approvals``  releases that wait for an owner's word
``serve_jobs``       runs that took longer than a request waits for
``serve_witnessed``  other ledgers that this service is a witness of

Nothing here is a balance: what was spent is in the ledger alone. Whoever can write these tables can name owners, and is
trusted like one.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import BigInteger, Boolean, Column, Engine, Integer, MetaData, Table, Text, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import SQLAlchemyError

from sordino.errors import LedgerError
from sordino.ledger.migrating import Form
from sordino.ledger.store_sqlite import PATIENCE, configure

METADATA = MetaData()
FORM = Form("the service's tables were", Path(__file__).parents[1] / "migrations", "serve_version", "0001", METADATA)
"""How a database is brought to the newest form of these tables."""
_OPENING = 7_306_086_967_853_314_160  # the advisory lock of services that start; any number that is ours alone
_ALONE = {  # while tables are made or changed, others who open the database wait
    "sqlite": ("BEGIN IMMEDIATE",),
    "postgresql": (
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
        f"SELECT pg_advisory_xact_lock({_OPENING})",
    ),
}

DATASETS = Table(
    "serve_datasets",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("sort", Text, nullable=False),
    Column("declarations", Text, nullable=False),
    Column("policy", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("time", BigInteger, nullable=False),
)
TOKENS = Table(
    "serve_tokens",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("subject", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("datasets", Text),
    Column("issuer", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Column("revoked", BigInteger),
)
MEMBERS = Table(
    "serve_members",
    METADATA,
    Column("subject", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("datasets", Text),
    Column("admitted_by", Text, nullable=False),
    Column("time", BigInteger, nullable=False),
)
SESSIONS = Table(
    "serve_sessions",
    METADATA,
    Column("digest", Text, primary_key=True),
    Column("subject", Text, nullable=False),
    Column("token", Text),
    Column("expires", BigInteger, nullable=False),
)
APPROVALS = Table(
    "serve_approvals",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("dataset", Text, nullable=False, index=True),
    Column("subject", Text, nullable=False),
    Column("digest", Text, nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("decided", BigInteger),
    Column("decided_by", Text),
    Column("reason", Text),
)
JOBS = Table(
    "serve_jobs",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("subject", Text, nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("instance", Text, nullable=False),
    Column("stage", Text, nullable=False),
    Column("release", Text),
    Column("code", Text),
    Column("message", Text),
    Column("created", BigInteger, nullable=False),
    Column("finished", BigInteger),
    # Of work in a process of its own: what is asked, as whom; what its plan makes public; whose it is, and its heart.
    Column("request", Text),
    Column("role", Text),
    Column("datasets", Text),
    Column("progress", Text),
    Column("claim", Text),
    Column("beat", BigInteger),
    Column("stopping", Boolean),
)
WITNESSED = Table(
    "serve_witnessed",
    METADATA,
    Column("key", Text, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("note", Text, nullable=False),
    Column("spent", Text, nullable=False),
    Column("anew", Boolean, nullable=False),
    Column("by", Text, nullable=False),
    Column("time", BigInteger, nullable=False),
)


def engine_at(database: str) -> Engine:
    """Return an engine on the database of the ledger, with the service's tables made if they are missing."""
    engine = plain_engine_at(database)
    try:
        _prepare(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def plain_engine_at(database: str) -> Engine:
    """Return an engine on the database of the ledger, whatever tables there are."""
    if "://" in database:
        return create_engine(make_url(database).set(drivername="postgresql+psycopg"), pool_size=10, pool_pre_ping=True)
    engine = create_engine(
        URL.create("sqlite", database=database), connect_args={"timeout": PATIENCE, "check_same_thread": False}
    )
    event.listen(engine, "connect", configure)
    return engine


def _prepare(engine: Engine) -> None:
    try:
        with engine.begin() as connection:
            for statement in _ALONE[engine.dialect.name]:
                connection.exec_driver_sql(statement)
            FORM.bring_up_to_date(connection)
    except SQLAlchemyError:
        raise LedgerError(
            "the service's tables cannot be made or read in this database; check who may", "SRD-L050"
        ) from None
