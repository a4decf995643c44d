"""Exact whole-number sums where the data is: expressions, relations and bounding in the engine's own words."""
