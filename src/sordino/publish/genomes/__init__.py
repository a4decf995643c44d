"""Genomes: how frequent alleles are in clusters of people, and which sites tell cases from controls.

moved.py                what one person can change in sums over people, and in scores of sites
frequency.py            allele frequencies: recipe and design
association.py          the sites that differ most: recipe and design
chi_squared.py          the test that is shown beside
release.py, picture.py  what comes out
"""
