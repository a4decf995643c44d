"""Kinds of releases: what a service knows of each (``kind.py``), and those that it offers (``table.py``)."""
