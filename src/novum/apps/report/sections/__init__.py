"""Parts of the report, one in each file: a record in, blocks out."""
