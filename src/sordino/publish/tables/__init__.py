"""Synthetic tables: rows that look like the data's, made from noisy marginals of it.

The mathematics, which knows neither data nor budgets:

    junction.py     cliques and trees            beliefs.py   from potentials to marginals of cliques
    across.py       marginals of any columns     fitting.py   from noisy marginals to potentials
    sampling.py     rows
"""
