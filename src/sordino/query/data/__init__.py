"""Data sets: where the tables are, what is declared about them, and how they are opened without being looked at."""
