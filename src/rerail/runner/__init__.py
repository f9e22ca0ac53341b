"""The recovery of one unit: a script of effects without I/O, and the drivers that perform them."""
