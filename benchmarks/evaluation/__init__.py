"""Workloads of `novum.evaluation`."""
