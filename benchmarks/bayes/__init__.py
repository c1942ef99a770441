"""Workloads of `novum.bayes`."""
