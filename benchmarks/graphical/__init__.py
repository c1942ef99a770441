"""Workloads of `novum.graphical`."""
