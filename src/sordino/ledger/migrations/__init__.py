"""How the tables of a ledger came to be what they are: one revision a file, run by alembic when a ledger is opened."""
