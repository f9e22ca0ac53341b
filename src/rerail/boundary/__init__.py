"""The public boundary: the one result that a verb returns, its closed vocabularies, and the fenced block.

Nothing is imported here: a hook and `rerail classify` serialise results without attrs or pydantic, so each module stands alone.
`slugs` and `hints` are the authorities, `result` what a verb hands in, `serialize` the only way out, `envelope` the published
schema of what comes out, `exit_codes` what a process ends with, and `block` the text shown before any retry.
"""
