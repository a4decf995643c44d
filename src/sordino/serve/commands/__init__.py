"""The verbs of the command line that work on a ledger, one file each; what they need is loaded when they are called.

``place``    where things are: ``sordino.yaml`` in a directory, or a service behind a URL
``demo``     ``sordino demo``
``begin``    ``sordino init``, ``sordino declare``
``look``     ``sordino look``
``running``  ``sordino run``, and the commands of kinds, as ``sordino ask``
``job``      ``sordino jobs``, ``sordino job stop | resume``
``budget``   ``sordino budget``
``ledger``   ``sordino ledger verify | show | restore``
``receipt``  ``sordino receipt verify | show``
``token``    ``sordino token issue | list | revoke``
``start``    ``sordino serve``
"""
