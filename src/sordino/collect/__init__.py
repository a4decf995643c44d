"""Data that arrives: from devices, in streams, watched by alarms."""
