"""Answers to questions about a model, exact and approximate."""
