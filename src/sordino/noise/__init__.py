"""Exact randomness: the only room that may touch entropy."""
