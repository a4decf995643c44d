"""A teacher ensemble (PATE): models on disjoint parts vote on public things, and a student learns from the answers."""
