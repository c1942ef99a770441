"""Decision trees, rules and forests."""
