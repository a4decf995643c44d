"""Workloads of counting queries: all ranges or prefixes of a column, marginals of several; answered together.

Mathematics alone, without gate or data: ``gram.py`` says what a workload weighs, ``strategy.py`` finds what to measure
for it in whole numbers, ``contrasts.py`` does so for marginals in closed form. ``range_*`` and ``margin_*`` are
recipes, each with its release and its picture.
"""
