"""What people start: the command line, reports and the studio."""
