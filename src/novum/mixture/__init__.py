"""Mixtures fitted by expectation and maximization."""
