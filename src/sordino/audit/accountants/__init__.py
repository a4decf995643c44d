"""Auditing accountants: ``events`` to try · ``floors`` (what is certainly lost; ``replaced_floors`` where a unit is
replaced, ``losses`` on a lattice) · ``checks`` · ``elsewhere`` (other libraries' accountants) · ``judging`` (try,
shrink, tell).
"""
