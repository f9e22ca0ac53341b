"""The taxonomy that every installation has: the built-in classes and reasons, together."""

from __future__ import annotations

from rerail.taxonomy.classes import CLASSES
from rerail.taxonomy.model import Taxonomy
from rerail.taxonomy.reasons import REASONS

BUILT_IN = Taxonomy(CLASSES, REASONS)
"""All built-in classes with both extension packs."""
