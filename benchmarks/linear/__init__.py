"""Workloads of `novum.linear`."""
