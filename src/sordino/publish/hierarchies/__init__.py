"""Hierarchies: counts of every place of a tree, in cells, in the manner of the US Census's TopDown algorithm.

    tree.py           places, and which are whose
    contrasts.py      a grid of cells in the basis in which its queries are diagonal
    least_squares.py  the best linear unbiased estimates and their variances, in closed form
    integers.py       non-negative integers that add up
    widths.py         how far off an estimate is, at most
    recipe.py         what is to be published: tree, columns, queries, shares; the public function
    design.py         the same with its noise: what is measured and released
    release.py        what comes out; picture.py: drawn
    plain.py          all of it from plain parameters, and from a saved release

The mathematics (the first five) knows neither data nor budgets.
"""
