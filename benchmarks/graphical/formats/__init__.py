"""Workloads of `novum.graphical.formats`."""
