"""Releases and their receipts."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
