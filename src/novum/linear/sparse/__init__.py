"""Sparse linear models: the lasso and its relatives."""
