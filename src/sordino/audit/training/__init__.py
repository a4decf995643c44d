"""Audits of training: one run with many canaries, or many runs with shadow models."""
