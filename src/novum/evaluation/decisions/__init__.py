"""Decisions under costs: risks, likelihood ratios, detection costs, thresholds, other priors."""
