"""Which columns to keep: filters, wrappers, and how stable the choice is."""
