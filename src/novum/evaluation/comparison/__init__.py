"""Comparing learners: tests that hold on shared folds, ranks over data sets, verdicts in words."""
