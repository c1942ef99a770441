"""Searching for parameters without touching the rows that judge them."""
