"""Publications: the row of whole publications in the table of kinds. Nothing else in ``serve`` knows what is here.

``kind.py``    the row
``asked.py``   what is asked for: a recipe with its parameters, and what to spend
``worked.py``  the job: it publishes, and leaves everything that was released in one archive, with a picture
``shown.py``   pages and texts; *pages.py*: the form and the page of a job; *shapes.py*: the API
``graphs.py``  declarations of graphs (`sort: graph`); *genotypes.py*: of genotypes (`sort: genotypes`)
``command.py`` ``sordino publish``
"""
