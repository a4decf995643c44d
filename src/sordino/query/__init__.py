"""Questions about tables: SQL and dataframes, on any engine, with one person protected whatever the number of rows.

A floor plan, from the ground up (upper packages may import lower ones, never the other way):

``model``     what a question is made of: kinds, columns, expressions, relations, the task for an engine
``estimate``  uncertain numbers: laws of noise, arithmetic, intervals
``answer``    what the analyst gets, and the receipt
``sql``       the parser; ``frame`` builds the same trees from dataframes
``data``      data sets: where tables are and what is declared about them, views included
``engine``    exact whole-number sums where the data is
``plan``      from a question to a frozen plan of least expected error
``release``   price it, run it once for a grant, read it back
``ask``       the front door: an account, a question, a price, a run
"""
