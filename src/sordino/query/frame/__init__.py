"""Questions written as dataframes: they build the trees that SQL is parsed into."""
