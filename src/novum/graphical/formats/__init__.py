"""Reading and writing networks: BIF, XMLBIF, UAI, Hugin, and other libraries' objects."""
