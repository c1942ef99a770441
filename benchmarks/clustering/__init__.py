"""Workloads of `novum.clustering`."""
