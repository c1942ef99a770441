"""Generative classifiers."""
