"""Reports on predictions as plain data, text, HTML and pictures."""
