"""Groups in data: k-means and hierarchies."""
