"""``python -m rerail``, and the ``rerail`` command."""

from __future__ import annotations

import os
import sys

from rerail._version import __version__

TYPE_CHECKING = False  # see rerail/__init__.py
if TYPE_CHECKING:
    from typing import NoReturn

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
        print(f"rerail {__version__}")  # noqa: T201  what scripts ask first, and click takes 50 ms to say
        return 0
    from rerail.cli.main import main as everything

    return everything(sys.argv[1:])


def run() -> NoReturn:
    """Run the command line as a process of its own.

    A hook's process ends at once when its answer is out: taking down the modules and the rules one by one costs 5 ms.
    """
    if sys.argv[1:2] not in _HOOK_VERBS:
        sys.exit(main())
    import gc

    from rerail.paths import cache_directory

    gc.set_threshold(100_000)  # what is loaded stays to the end, and looking through it again and again costs 3 ms
    patterns = None
    if (cache := cache_directory(os.environ)) is not None:
        from rerail.cli.ready import ReadyPatterns

        patterns = ReadyPatterns(os.path.join(cache, "patterns.bin"))  # noqa: PTH118
        patterns.install()
    code = main()
    if patterns is not None:
        patterns.keep()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):  # closed, or never there: let the interpreter say what it always says
        sys.exit(code)
    os._exit(code)


if __name__ == "__main__":
    run()
