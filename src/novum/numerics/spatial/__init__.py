"""Search for near rows among arrays of numbers; `novum.numerics` is the door to it."""
