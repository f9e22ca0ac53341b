"""The schema's history. A migration that was released never changes; a new one is added below it, and applied once.

Each is a table of statements in the words that SQLite and PostgreSQL share where they can be shared.
"""

from __future__ import annotations

from rerail.ledger.migrations import m0001_ledger, m0002_leases

MIGRATIONS: tuple[tuple[str, ...], ...] = (m0001_ledger.SQLITE, m0002_leases.SQLITE)
"""In order; the first makes schema version 1."""
