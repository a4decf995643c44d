"""Private predictions: a model that is never released, and answers a declared number of times."""
