"""From a question to a frozen plan: how to bound, how to encode, how to divide ε; and what it will cost and give."""
