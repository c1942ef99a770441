"""Workloads of `novum.graphical.learning`."""
