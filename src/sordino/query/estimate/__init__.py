"""Numbers that are not certain: the law of their noise, arithmetic with it, intervals that cover."""
