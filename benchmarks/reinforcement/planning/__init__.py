"""Workloads of `novum.reinforcement.planning`."""
