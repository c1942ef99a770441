"""Gradient boosting of histogram trees."""
