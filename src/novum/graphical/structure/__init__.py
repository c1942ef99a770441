"""Graphs: independence, equivalence, and the trees that exact inference runs on."""
