"""``sordino demo``: the whole story once, on made-up data, in a folder that can be worked in afterwards.

``rides``     the sample: a month of a bicycle scheme, what is declared about it, and the questions
``story``     what happens: six answers, a refusal, a ledger that verifies, a receipt, one byte that is found
``showing``   the story on a terminal, or in a pipe
``drawing``   intervals and budgets as pictures (SVG)
``report``    the story as one page of HTML
"""
