"""Kernels on labelled graphs: histograms, shortest paths, Weisfeiler-Lehman, and its test."""
