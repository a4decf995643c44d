"""A teacher ensemble (PATE): models on disjoint parts vote on public examples, and a student learns from the answers."""
