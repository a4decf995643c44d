"""Data that arrives from devices and streams: for those who must not hold what people said."""
