"""Trees with linear models in their leaves."""
