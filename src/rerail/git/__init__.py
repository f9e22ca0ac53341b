"""Docstring to come."""
