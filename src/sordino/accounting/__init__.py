"""What privacy costs: units, events, curves, composition, calibration, budgets. No data, no input or output."""
