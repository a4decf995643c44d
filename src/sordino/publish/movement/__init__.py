"""Mobility: how many people were in each region on each day, and how that changed from what was usual.

window.py   regions, days and the baseline: the cells that are counted, all public
changes.py  change from a noisy baseline, with intervals, and which cells are too uncertain to show
recipe.py   the report of a window; *report.py*: what it releases; *picture.py*: its drawing
alerts.py   instead of a report: the first days on which a region fell far below what was usual, by sparse vector
"""
