"""Surveys in a ledger and in a service: how they are declared, opened, answered, looked at and closed."""
