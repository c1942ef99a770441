"""Pictures of the report, one kind in each file, all in one style."""
