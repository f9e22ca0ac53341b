"""How good the classifier is, and how it gets better: labelled corpora, their figures, and drafts of the rules that it lacks.

Above the way of a hook call: nothing here runs when a failure is named.
"""
