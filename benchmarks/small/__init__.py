"""What a call costs where there is next to nothing to compute: 150 rows of 4 columns."""
