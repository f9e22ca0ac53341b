"""The closed vocabularies - classes, reasons, actions - and the total maps between them."""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rerail.taxonomy.actions import Action
    from rerail.taxonomy.built_in import BUILT_IN
    from rerail.taxonomy.classes import CLASSES
    from rerail.taxonomy.law import FailureClass
    from rerail.taxonomy.model import ClassSpec, ReasonSpec, Taxonomy
    from rerail.taxonomy.packs import PACKS
    from rerail.taxonomy.reasons import REASONS

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

# PERF: a failure is named without the tables, which take a hook 2 ms.
_MODULES = {
    "BUILT_IN": "built_in",
    "CLASSES": "classes",
    "PACKS": "packs",
    "REASONS": "reasons",
    "Action": "actions",
    "ClassSpec": "model",
    "FailureClass": "law",
    "ReasonSpec": "model",
    "Taxonomy": "model",
}


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # What import_module does, which takes a hook 0.5 ms to import.
    return getattr(__import__(f"{__name__}.{module}", fromlist=(name,)), name)
