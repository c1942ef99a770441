"""Judging agents that learn to act."""
