"""Networks as pictures: layers, boxes with posterior bars, SVG."""
