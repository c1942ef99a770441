"""Machines that learn from one row after the other: Pegasos and the perceptron."""
