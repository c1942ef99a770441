"""Learners from the nearest examples, and the index that finds them."""
