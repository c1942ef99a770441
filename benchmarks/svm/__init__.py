"""Workloads of `novum.svm`."""
