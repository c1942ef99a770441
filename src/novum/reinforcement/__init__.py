"""Markov decision processes: planning and learning."""
