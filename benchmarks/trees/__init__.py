"""Workloads of `novum.trees`."""
