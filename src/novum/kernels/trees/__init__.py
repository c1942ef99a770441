"""Kernels on ordered labeled trees; `novum.kernels` is the door to them."""
