"""Workloads of `novum.core`."""
