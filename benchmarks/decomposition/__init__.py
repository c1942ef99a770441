"""Workloads of `novum.decomposition`."""
