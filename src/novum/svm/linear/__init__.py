"""Linear machines: their losses, solvers and estimators."""
