"""Noise and accounting together: each mechanism adds noise and names its own event."""
