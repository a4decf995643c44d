"""The ledger explorer: entries, checkpoints, proofs, and a live verification."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
