"""Schema 2: leases. A token is never given twice, also not after its lease has ended."""

from __future__ import annotations

SQLITE = (
    """
    CREATE TABLE leases (
        token INTEGER PRIMARY KEY AUTOINCREMENT,
        root TEXT NOT NULL,
        unit TEXT NOT NULL,
        run TEXT NOT NULL,
        owner TEXT NOT NULL,
        since_s REAL NOT NULL,
        UNIQUE (root, unit)
    )
    """,
    "CREATE INDEX leases_by_unit ON leases (unit)",
)
