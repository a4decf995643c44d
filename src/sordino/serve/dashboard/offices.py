"""The owner's desk: data sets, policies, budgets, tokens, members and approvals."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
