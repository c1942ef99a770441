"""Workloads of `novum.graphical.models`."""
