"""Questions written as SQL: an allow-list of what may be asked, with what to write instead of the rest."""
