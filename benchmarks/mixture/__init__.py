"""Workloads of `novum.mixture`."""
