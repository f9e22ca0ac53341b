"""Schema 1: events, balances, charges, units, pauses, refusals.

Text is as `rerail.ledger.columns` writes it. Times are seconds since the epoch.
"""

from __future__ import annotations

SQLITE = (
    # The history. Nothing in it is ever changed: see the triggers.
    """
    CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at_s REAL NOT NULL,
        run TEXT NOT NULL,
        unit TEXT NOT NULL,
        attempt INTEGER NOT NULL CHECK (attempt >= 0),
        name TEXT NOT NULL,
        gap INTEGER NOT NULL DEFAULT 0,
        fields TEXT NOT NULL
    )
    """,
    "CREATE INDEX events_by_unit ON events (unit, id)",
    "CREATE INDEX events_by_run ON events (run, id)",
    "CREATE INDEX events_with_gaps ON events (id) WHERE gap = 1",
    """
    CREATE TRIGGER events_keep_their_words BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are only ever appended'); END
    """,
    """
    CREATE TRIGGER events_stay BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are only ever appended'); END
    """,
    # INSERT OR REPLACE deletes without asking a delete trigger.
    """
    CREATE TRIGGER events_keep_their_place BEFORE INSERT ON events
    WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'events are only ever appended'); END
    """,
    # What a (unit, class) has spent since the unit last succeeded, and the budget at its last charge.
    """
    CREATE TABLE balances (
        unit TEXT NOT NULL,
        class TEXT NOT NULL,
        budget INTEGER NOT NULL CHECK (budget >= 0),
        spent INTEGER NOT NULL CHECK (spent >= 0),
        PRIMARY KEY (unit, class)
    )
    """,
    # Every charge that was granted, once; windows are counted here. budget and spent are the balance after it.
    """
    CREATE TABLE charges (
        run TEXT NOT NULL,
        unit TEXT NOT NULL,
        attempt INTEGER NOT NULL CHECK (attempt >= 0),
        class TEXT NOT NULL,
        at_s REAL NOT NULL,
        budget INTEGER NOT NULL,
        spent INTEGER NOT NULL,
        PRIMARY KEY (run, unit, attempt)
    )
    """,
    "CREATE INDEX charges_by_time ON charges (unit, class, at_s)",
    # Where a unit stands whose run did not end, or ended with something left to do.
    """
    CREATE TABLE units (
        unit TEXT PRIMARY KEY,
        run TEXT NOT NULL,
        phase TEXT NOT NULL,
        state TEXT NOT NULL,
        owner TEXT,
        pause TEXT
    )
    """,
    """
    CREATE TABLE pauses (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        question TEXT NOT NULL,
        answer TEXT,
        answered_at_s REAL,
        note TEXT NOT NULL DEFAULT ''
    )
    """,
    """
    CREATE TABLE refusals (
        root TEXT PRIMARY KEY,
        since_s REAL NOT NULL,
        reason TEXT NOT NULL,
        detail TEXT NOT NULL
    )
    """,
)
