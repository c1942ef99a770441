"""Pruning rules: reduced error, cost-complexity, pessimistic error."""
