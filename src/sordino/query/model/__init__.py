"""What a question is made of: kinds, columns, expressions, relations and their owners, the task for an engine."""
