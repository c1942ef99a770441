"""Linear models by gradient descent, step by step."""
