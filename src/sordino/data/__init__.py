"""What is protected: data sets, their units and declarations, and where they are.

``kinds``, ``metadata``  what is publicly known of tables and columns
``declare``, ``by_day``  what an owner writes; ``declarations_file``, ``smartnoise`` from files; ``describe`` shows it
``sources``              where tables are, and how they are opened; ``local``, ``frames``, ``delimited``, ``reading``
``dataset``              all of it as one `Dataset`
"""
