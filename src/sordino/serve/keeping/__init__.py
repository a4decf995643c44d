"""What is kept: tables, the registry of data sets, policies, approvals and jobs, and who people are."""
