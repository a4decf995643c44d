"""From a request to a release: prices without a lock, runs on a gate, jobs."""
