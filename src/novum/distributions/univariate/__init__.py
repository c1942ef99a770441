"""Laws of one number or one label, a file each; `novum.distributions` is the door to them."""
