"""The closed vocabularies - classes, reasons, actions - and the total maps between them."""

from __future__ import annotations

from rerail.taxonomy.actions import Action
from rerail.taxonomy.classes import CLASSES, PACKS
from rerail.taxonomy.law import FailureClass
from rerail.taxonomy.model import ClassSpec, ReasonSpec, Taxonomy
from rerail.taxonomy.reasons import REASONS

BUILT_IN = Taxonomy(CLASSES, REASONS)
"""All built-in classes with both extension packs."""

__all__ = [
    "BUILT_IN",
    "CLASSES",
    "PACKS",
    "REASONS",
    "Action",
    "ClassSpec",
    "FailureClass",
    "ReasonSpec",
    "Taxonomy",
]
