"""Questions about tables: SQL and dataframes, on any engine, with one person protected whatever the number of rows."""
