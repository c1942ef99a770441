"""Workloads of `novum.kernels.strings`."""
