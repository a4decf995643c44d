"""Trainings and private predictions: the rows of the room of models in the table of kinds, and the sort of examples.

``kind.py`` and ``predicted.py`` are the rows; nothing else in ``serve`` knows the rest.

``declared.py``  declarations of labelled examples (`sort: examples`); *stored.py*: the files that hold them
``recipe.py``    what is asked for, and its price without data; *worked.py*: the job
``shown.py``     pages and texts; *shapes.py*: the API; *command.py*, *learning.py*: ``sordino train``, ``learn price``

No model library is loaded in the process of the service: prices come from what is written down, and the job that
trains has a process of its own.
"""
