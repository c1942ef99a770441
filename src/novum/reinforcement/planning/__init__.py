"""Planning: the best policy of a known decision process, with a proof of how good it is."""
