"""The general engine: branches for each level, gain ratio, absolute error, on exact values."""
