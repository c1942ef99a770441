"""From a file to a task: reading, kinds of columns, what the table is like, what is set aside."""
