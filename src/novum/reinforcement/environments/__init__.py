"""Worlds to act in: simulated processes and Gymnasium's environments."""
