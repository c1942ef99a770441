"""Classifiers that may answer "none of these", and how such answers are judged."""
