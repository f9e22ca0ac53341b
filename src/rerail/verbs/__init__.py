"""What each verb does, without how it is called or shown: a function a verb, which takes plain values and returns its `Result`.

The command line and the MCP server read their callers' words, call these, and let the results out; neither adds to them. Nothing
is imported here: a hook comes through `classify`, which stands on the standard library alone.
"""
