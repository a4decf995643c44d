"""Authorization: nobody gets in without a token, and nobody does what is not theirs to do.

Bodies that are sent are harmless, but a service that lets them through does what they say: audit services that were
started for it.
"""

from __future__ import annotations

from typing import Any

from .finding import Notebook, Probed
from .line import Line

_READ = (
    "/datasets",
    "/datasets/{d}",
    "/budgets/dataset/{d}",
    "/releases",
    "/jobs",
    "/approvals",
    "/whoami",
    "/ledger/checkpoint",
    "/ledger/entries?start=0&end=1",
    "/admin/tokens",
    "/admin/scopes",
    "/admin/members",
)
_TOKEN: dict[str, Any] = {"subject": "probe", "role": "owner", "days": 1}
_OWNERS: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("GET", "/admin/tokens", None),
    ("GET", "/admin/scopes", None),
    ("GET", "/admin/members", None),
    ("POST", "/admin/tokens", _TOKEN),
    ("POST", "/admin/members", {"subject": "probe", "role": "analyst"}),
    ("PUT", "/admin/datasets/{d}/budget", {"budget": {"epsilon": 1}, "reason": "probe"}),
    ("PATCH", "/admin/datasets/{d}/policy", {"pause": 0}),
    ("PUT", "/admin/caps/analyst/probe", {"budget": {"epsilon": 1}}),
    ("POST", "/admin/datasets", {"declarations": "name: probe\nunit: row\nsource: none.parquet\n"}),
    ("GET", "/ledger/entries?start=0&end=1", None),
    ("POST", "/ledger/verify", None),
)
_FORBIDDEN = (401, 403, 404, 405)


def authorize(
    line: Line, dataset: str, question: dict[str, Any], owner: str | None, other: str | None, auditor: str | None
) -> Probed:
    """Come without a token and with broken ones; do as an analyst what owners do; look at another's releases.

    `owner`, `other` and `auditor` are tokens of an owner, of another analyst and of an auditor; without them less is
    checked.
    """
    note = Notebook("authorization")
    for token, who in (
        (None, "nobody"),
        ("sordino", "somebody with a made-up token"),
        (near_miss(line.token), "a near miss"),
    ):
        for path in _READ:
            seen = line.send("GET", path.format(d=dataset), token=token)
            note.check(
                seen.status in (401, 404), "somebody unknown gets in", f"{who}: status {seen.status}", seen.request
            )
        for verb in ("/query/price", "/query/run"):
            seen = line.send("POST", verb, json=question, token=token)
            note.check(seen.status == 401, "somebody unknown may ask", f"{who}: status {seen.status}", seen.request)
    whoami = line.get("/whoami").body
    if isinstance(whoami, dict) and whoami.get("role") == "owner":
        return note.probed("the token is an owner's: give an analyst's")
    _as_analyst(note, line, dataset)
    if other is not None:
        _as_another(note, line, question, other)
    if owner is not None:
        _revoked(note, line, dataset, owner)
    if auditor is not None:
        seen = line.run(question, token=auditor)
        note.check(seen.status in _FORBIDDEN, "an auditor may ask", f"status {seen.status}", seen.request)
    return note.probed()


def near_miss(token: str) -> str:
    """Return a token that ends otherwise.

    >>> near_miss("secret"), near_miss("secxx")
    ('secrxx', 'secyy')
    """
    return token[:-2] + ("yy" if token.endswith("xx") else "xx")


def _as_analyst(note: Notebook, line: Line, dataset: str) -> None:
    for method, path, body in _OWNERS:
        seen = line.send(method, path.format(d=dataset), json=body)
        note.check(
            seen.status in _FORBIDDEN, "an analyst does what is the owner's", f"status {seen.status}", seen.request
        )
    unknown = line.get("/datasets/no-such-data-set")
    note.check(unknown.status == 404, "what is not there is told", f"status {unknown.status}", unknown.request)


def _as_another(note: Notebook, line: Line, question: dict[str, Any], other: str) -> None:
    ran = line.run(question)
    if ran.status != 200:
        return
    for kind in ("releases", "receipts", "jobs"):
        seen = line.get(f"/{kind}/{ran.body['id']}", token=other)
        note.check(
            seen.status == 404, f"another's {kind} are told", f"status {seen.status} instead of 404", seen.request
        )


def _revoked(note: Notebook, line: Line, dataset: str, owner: str) -> None:
    """Have a token issued, use it, have it revoked, and use it again."""
    issued = line.send("POST", "/admin/tokens", token=owner, json=_TOKEN | {"role": "analyst", "datasets": [dataset]})
    if issued.status != 201:
        return
    token = str(issued.body["token"])
    before = line.get("/datasets", token=token)
    known = line.get("/admin/tokens", token=owner)
    mine = max((each for each in known.body["tokens"] if each["subject"] == "probe"), key=lambda each: each["created"])
    note.check(token not in known.text, "a token is told after it was issued", "in a list of tokens", known.request)
    line.send("DELETE", f"/admin/tokens/{mine['id']}", token=owner)
    after = line.get("/datasets", token=token)
    words = f"status {before.status} before and {after.status} after it was revoked"
    note.check(before.status == 200 and after.status == 401, "a revoked token still works", words, after.request)
