"""Training in torch: sums of clipped gradients, exact noise, one's own loop or the one that is here."""
