"""Data sets, and all that is public about one."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
