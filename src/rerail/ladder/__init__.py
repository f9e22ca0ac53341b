"""The verification ladder: which command each phase is, by the project's own files, and how one is run and judged.

`resolve` is a function of what the files say (`look` reads them, `toolchains` knows them); nothing is invented. `work` is a phase
as the work under recovery, and `diff` is the one phase that rerail does itself.
"""
