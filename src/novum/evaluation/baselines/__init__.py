"""Answers that look at no column: what every model has to beat."""
