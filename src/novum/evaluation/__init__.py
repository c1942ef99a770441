"""Judging any estimator through its contract: measures, decisions, comparisons."""
