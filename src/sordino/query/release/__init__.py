"""A plan run once for its grant, and what came out made an answer: the only way from exact sums to an answer."""
