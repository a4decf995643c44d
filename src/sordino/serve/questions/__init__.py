"""The row of questions in the table of kinds: all that a service knows of the room of questions.

``kind.py``       the row itself; *tables.py*: the sort of data that it is about, in words by *table_words.py*
``reading.py``    a question from plain JSON; *shapes.py*: the same for the description of the API
``quotation.py``  what a price says beside the charge
``told.py``       prices and answers made again from JSON, for whoever asks from afar
``console.py``    the page on which questions are asked, with its *form.py* and *vocabulary.py*; *answers.py*
``command.py``    ``sordino ask``
"""
