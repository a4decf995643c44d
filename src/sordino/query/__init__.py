"""Questions about tables: SQL and dataframes, on any engine, with one person protected whatever the number of rows.

A floor plan, from the ground up (upper packages may import lower ones, never the other way):

``model``     what a question is made of: expressions, relations, the task for an engine
``estimate``  uncertain numbers: laws of noise, arithmetic, intervals
``answer``    what the analyst gets, and the receipt
``words``     how a question may be asked: what to spend, how to plan, how to show
``sql``       the parser; ``frame`` builds the same trees from dataframes
``engine``    exact whole-number sums where the data is
``plan``      from a question to a frozen plan of least expected error, its price, and how far off it will be
``release``   run the plan once for a grant, and read what came out
``ask``       the front door: an account, a question, a price, a run
"""
