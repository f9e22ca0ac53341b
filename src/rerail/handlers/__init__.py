"""Handlers: what each decision does for real. They act; what to do was decided before."""
