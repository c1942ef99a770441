"""Kernel ridge regression and its exact leave-one-out validation."""
