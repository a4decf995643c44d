"""``sordino audit``: one command for each kind of audit."""
