"""Trees of one question, found on codes that are made once: the base of boosting."""
