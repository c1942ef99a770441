"""Small neural networks of the notes."""
