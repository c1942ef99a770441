"""Projections: principal components and discriminants."""
