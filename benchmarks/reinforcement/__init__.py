"""Workloads of `novum.reinforcement`."""
