"""Similarity kernels on vectors, strings, graphs and trees, with their algebra."""
