"""Auditing accountants: ``events`` to try · ``floors`` (what is certainly lost) · ``checks`` · ``elsewhere`` (other
libraries' accountants) · ``judging`` (try, shrink, tell).
"""
