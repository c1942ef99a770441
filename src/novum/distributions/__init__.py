"""Probability laws with sufficient statistics, conjugacy and information."""
