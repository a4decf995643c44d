"""The dashboard: pages for people, drawn on the server, over the same `Service` that programs reach by the API.

``pages.py``     how a page is drawn: templates, navigation by role, words; what every other file here uses
``troubles.py``  errors as pages
``charts.py``    drawings as Vega-Lite specifications
``entrance.py``  login by token or by single sign-on, logout
``home.py``      data sets, and all that is public about one: who is protected, columns, budget, policy
``released.py``  releases of every kind and their receipts; *jobs.py*: runs that take long
``explorer.py``  the ledger: entries, checkpoints, proofs, a live verification
``admin.py``     for owners: data sets, policies, budgets, tokens, members, approvals
``openness.py``  the transparency page, and ε in plain words
``forms.py``     what was typed into a form, kept when it is refused; *words.py*: declarations, events, entries in words

**Guarantee**: pages call `Service` with the session's `Principal`, as the API does with the token's; they know no
ledger, no registry and no data. A page works without scripts; those that it has come from this service alone.
"""

from __future__ import annotations

from fastapi import APIRouter

from . import admin, entrance, explorer, home, jobs, openness, released
from .troubles import at_the_door, install

__all__ = ["at_the_door", "install", "router"]

router = APIRouter(include_in_schema=False)
for _page in (entrance, home, released, jobs, explorer, admin, openness):
    router.include_router(_page.router)
