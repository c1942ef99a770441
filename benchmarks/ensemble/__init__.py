"""Workloads of `novum.ensemble`."""
