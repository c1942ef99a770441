"""Workloads of `novum.kernels`."""
