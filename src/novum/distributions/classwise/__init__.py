"""Laws of all classes at once: the form in which classifiers use them on whole tables."""
