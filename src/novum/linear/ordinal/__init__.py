"""Ordinal regression."""
