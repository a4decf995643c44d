"""Models: training under differential privacy, charged to the same ledger as every query.

Importing this room loads neither torch nor scikit-learn; the folders that need them load them when they are opened.
"""
