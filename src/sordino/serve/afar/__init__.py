"""A service at the other end of a wire: the client, and what it is told."""
