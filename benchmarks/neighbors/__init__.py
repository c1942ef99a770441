"""Workloads of `novum.neighbors`."""
