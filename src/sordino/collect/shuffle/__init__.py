"""Shuffled trust: reports are sealed twice, mixed by somebody else, and opened by the analyser as one batch.

envelope   a report sealed for the analyser, and that once more for the shuffler
shuffler   who takes envelopes, waits for the batch, permutes, forwards and forgets
arrival    the batch at the analyser's, part by part, and from nobody but the shuffler
"""
