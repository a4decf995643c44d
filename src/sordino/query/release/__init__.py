"""Plans priced, run once for a grant, and read back: the only way from exact sums to an answer."""
