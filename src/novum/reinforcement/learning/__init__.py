"""Learning to act where the transitions are not known."""
