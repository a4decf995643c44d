"""What the ledger and the registry tell whom: budgets, releases, proofs, verification."""
