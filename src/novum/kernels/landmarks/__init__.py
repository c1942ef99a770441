"""Kernels through a few landmarks: the form itself, the choice of landmarks, and a transformer."""
