"""``python -m rerail``, and the ``rerail`` command."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    # A hook asks for a classification at every tool call: that verb is dispatched before anything slow is imported.
    if sys.argv[1:2] == ["classify"]:
        from rerail.cli.classify import main as classify

        return classify(sys.argv[2:])
    from rerail.cli.main import main as everything

    return everything(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
