"""How the service's tables came to be what they are: one revision a file, run by alembic when a service starts."""
