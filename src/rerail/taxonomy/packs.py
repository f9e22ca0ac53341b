"""The names of the class packs."""

from __future__ import annotations

CORE_PACK = "core"
VERIFICATION_PACK = "verification"
ENVIRONMENT_PACK = "environment"
PACKS = (CORE_PACK, VERIFICATION_PACK, ENVIRONMENT_PACK)
"""All are on by default; ``packs = ["core"]`` gives the six classes and unclassified."""
