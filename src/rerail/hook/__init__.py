"""``rerail hook``: a harness tells of each tool call, and a failed one gets its name before the agent can try again.

`payload` says what failed, `record` charges and writes it down, `harness` speaks each harness's language. All of it runs at every
tool call, and so is the standard library alone.
"""
