"""What every training shares, whatever the model: examples, samples, the plan and its price, tranches, checkpoints.

No model library is imported here: a model is a number of parameters, and its weights are arrays by name.
"""
