"""Attacks that win on what is released unprotected and lose on what sordino releases; each has a figure."""
