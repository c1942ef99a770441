"""How good predictions are: measures, curves, intervals, and scorers made of them."""
