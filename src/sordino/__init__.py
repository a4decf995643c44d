"""sordino: differential privacy on one ledger."""
