"""Places: maps of points, or of the sites of people, in cells of a box.

``grid.py`` says what is counted where, ``quadtree.py`` how regions are split; ``map_*`` are the recipes and what they
release: ``map_marks.py`` says which cells are shown, zero, uncertain or suppressed, and the page, the image and the
GeoJSON show them.
"""
