"""Kernels on strings: text, bytes, and sequences of any symbols."""
