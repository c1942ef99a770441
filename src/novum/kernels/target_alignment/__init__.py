"""Alignment of kernels with a target, and weights of kernels by it."""
