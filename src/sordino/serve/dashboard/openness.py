"""The transparency page, and ε in plain words."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
