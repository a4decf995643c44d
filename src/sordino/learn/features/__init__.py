"""Features that are fixed beforehand: functions of one example alone, so they cost nothing."""
