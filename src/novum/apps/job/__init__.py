"""The main job: from a table to a decision, as plain steps that any front end can call."""
