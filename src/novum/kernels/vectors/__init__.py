"""Kernels on rows of numbers and on tables, a file each; `novum.kernels` is the door to them."""
