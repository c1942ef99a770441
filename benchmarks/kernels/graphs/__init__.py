"""Workloads of `novum.kernels.graphs`."""
