"""Git: one way to run it, what a repository is like, and heals that never lose a byte.

`heal` is where a heal happens, `undo` where one is taken back, `safety` where a worktree is checked before anything starts in it.
What can be wrong is in `repairs`, what is done about it in `steps`, and everything of git passes `gate`.
"""
