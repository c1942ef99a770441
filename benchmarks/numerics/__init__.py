"""Workloads of `novum.numerics`."""
