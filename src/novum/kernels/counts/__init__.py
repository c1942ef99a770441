"""Objects as counts of features, and the products of these counts in exact integers."""
