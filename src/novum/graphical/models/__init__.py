"""The models: Bayesian networks, factor graphs and Markov chains."""
