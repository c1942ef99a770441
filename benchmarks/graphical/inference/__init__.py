"""Workloads of `novum.graphical.inference`."""
