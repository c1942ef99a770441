"""Cross-validation: splits, journals, folds, and what they say of a learner."""
