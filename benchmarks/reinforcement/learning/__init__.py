"""Workloads of `novum.reinforcement.learning`."""
