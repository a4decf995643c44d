"""Data that arrives from devices and streams, from people who need not trust whoever collects it."""
