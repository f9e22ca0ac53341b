"""The steps that a heal can take, grouped by what they work on: each declares what it may change, and does it.

A step acts on what the conditions found, which stands in the case; it takes no arguments from a recipe.
`rerail.git.primitives` is the table of them all.
"""
