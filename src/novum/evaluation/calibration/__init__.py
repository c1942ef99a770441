"""Calibrated probabilities and thresholds around any classifier."""
