"""Weights of several kernels, learned with the machine."""
