"""Intervals and sets of classes that hold the truth as often as promised."""
