"""What a fitted model does with its columns: curves, importances, dependence."""
