"""Tests of two models against each other on the same folds or rows."""
