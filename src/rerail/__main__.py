"""``python -m rerail``, and the ``rerail`` command."""

from __future__ import annotations

import os
import sys

from rerail._version import __version__

TYPE_CHECKING = False  # see rerail/__init__.py
if TYPE_CHECKING:
    from typing import NoReturn

    from rerail.cli.ready import ReadyPatterns

_HOOK_VERBS = (["classify"], ["hook"])
"""A hook asks at every tool call: what it asks is dispatched before anything slow is imported."""


def main() -> int:
    """Run the command line and return its exit code."""
    if sys.argv[1:2] == ["classify"]:
        from rerail.cli.classify import main as classify

        return classify(sys.argv[2:])
    if sys.argv[1:2] == ["hook"]:
        from rerail.cli.hook import main as hook

        return hook(sys.argv[2:])
    if sys.argv[1:] == ["--version"]:
        from rerail.cli.output import leave_page

        return leave_page(f"rerail {__version__}")  # what scripts ask first, and click takes 50 ms to say
    from rerail.cli.main import main as everything

    return everything(sys.argv[1:])


def run() -> NoReturn:
    """Run the command line as a process of its own, which Ctrl-C ends without a traceback while it still starts or reads."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(130)


def _run() -> NoReturn:
    """Run the command line and end the process.

    A hook's process ends at once when its answer is out: taking down the modules and the rules one by one costs 5 ms.
    """
    if sys.argv[1:2] not in _HOOK_VERBS:
        code = main()
        _flush()
        sys.exit(code)
    import gc

    from rerail.paths import cache_directory

    gc.set_threshold(100_000)  # what is loaded stays to the end, and looking through it again and again costs 3 ms
    patterns = _ready_patterns(cache_directory(os.environ))
    code = main()
    if patterns is not None:
        patterns.keep()
    _flush()
    os._exit(code)


def _flush() -> None:
    """Write out what is buffered, and drop what cannot be written: the exit code is the verb's, whoever listens."""
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except (OSError, ValueError, AttributeError):  # full, closed, or never there
            setattr(sys, name, None)  # or the interpreter tries once more, and ends with 120


def _ready_patterns(cache: str | None) -> ReadyPatterns | None:
    """Have patterns taken from the user's cache, where there is one."""
    if cache is None:
        return None
    from rerail.cli.ready import ReadyPatterns

    patterns = ReadyPatterns(os.path.join(cache, "patterns.bin"))  # noqa: PTH118
    patterns.install()
    return patterns


if __name__ == "__main__":
    run()
