"""The sides that are measured, each importable only in its own environment."""
