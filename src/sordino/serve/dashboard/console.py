"""The query console: price first, then run."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
