"""Laws of vectors, matrices and pairs, one per file with the same sections in the same order."""
