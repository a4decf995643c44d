"""Witnesses: telling one of every checkpoint, and being one for others."""
