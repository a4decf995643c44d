"""Graphs: how many edges, triangles and stars there are, how clustered they are, how many friends people have.

Mathematics, without gate or data of anybody's:
    patterns.py             small patterns of a graph, found with sparse matrices
    local_sensitivities.py  how much one edge more or less can change a count, near this graph
    capped.py               a count in which no node has more than its cap: a linear program with a certificate
    cap_choice.py           which cap, chosen privately
    ordered.py              a sequence known to fall: fitted to noise, with a band

Publications:
    counting.py             counts: the recipe, one design for edges and one for nodes (edge_design.py, node_design.py)
    sequence.py             the degrees, in order
    release.py, picture.py  what comes out
"""
