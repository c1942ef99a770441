"""Novum and its rivals on the same data, in one run, with the quality beside the time."""
