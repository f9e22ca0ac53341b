"""What can be wrong and what can be done about it, one noun a module: each finds out, and each repairs, on a repository's state.

Nothing here knows recipes or backups: `rerail.git.conditions` asks, `rerail.git.steps` acts, and `rerail.git.heal` sees to it
that everything was kept before.
"""
