"""Every statement of the durable stores, by name. Values are parameters, always; nothing is ever put into a statement's text.

Written in the SQL that SQLite 3.24 (2018) and PostgreSQL share: upserts, but no ``RETURNING``, which the SQLite of several Linux
releases in service does not know. Each runs within a transaction that already holds the write lock where it writes.
"""

from __future__ import annotations

SCHEMA_VERSION = 2
"""The number of migrations; a test holds it to the table of them, which is read only when one must be applied."""

FIND_STANDING = """
    SELECT units.unit, units.phase, units.state, units.owner, pauses.question, pauses.answer
    FROM units LEFT JOIN pauses ON pauses.id = units.pause
    WHERE units.unit = ?
"""
FIND_UNIT = "SELECT run, phase, owner, pause FROM units WHERE unit = ?"
KEEP_UNIT = """
    INSERT INTO units (unit, run, phase, state, owner, pause) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (unit) DO UPDATE SET
        run = excluded.run, phase = excluded.phase, state = excluded.state,
        owner = excluded.owner, pause = excluded.pause
"""
RELEASE_UNIT = "UPDATE units SET owner = NULL WHERE unit = ?"
FORGET_UNIT = "DELETE FROM units WHERE unit = ?"

FIND_CHARGE = "SELECT unit, class, budget, spent FROM charges WHERE run = ? AND unit = ? AND attempt = ?"
FIND_SPENT = "SELECT spent FROM balances WHERE unit = ? AND class = ?"
COUNT_CHARGES_SINCE = "SELECT count(*) FROM charges WHERE unit = ? AND class = ? AND at_s > ?"
SPEND = """
    INSERT INTO balances (unit, class, budget, spent) VALUES (?, ?, ?, 1)
    ON CONFLICT (unit, class) DO UPDATE SET spent = balances.spent + 1, budget = excluded.budget
"""
ADD_CHARGE = "INSERT INTO charges (run, unit, attempt, class, at_s, budget, spent) VALUES (?, ?, ?, ?, ?, ?, ?)"
RESET_BALANCES = "UPDATE balances SET spent = 0 WHERE unit = ?"
LIST_BALANCES = "SELECT unit, class, budget, spent FROM balances"
LIST_BALANCES_OF_UNIT = f"{LIST_BALANCES} WHERE unit = ?"

ADD_EVENT = "INSERT INTO events (at_s, run, unit, attempt, name, gap, fields) VALUES (?, ?, ?, ?, ?, ?, ?)"
FIND_EVENT = "SELECT id, at_s, run, unit, attempt, name, fields FROM events WHERE id = ?"
LIST_EVENTS = """
    SELECT id, at_s, run, unit, attempt, name, fields FROM events
    WHERE id > ? ORDER BY id LIMIT ?
"""
LIST_EVENTS_OF_UNIT = """
    SELECT id, at_s, run, unit, attempt, name, fields FROM events
    WHERE unit = ? AND id > ? ORDER BY id LIMIT ?
"""
LIST_EVENTS_OF_RUN = """
    SELECT id, at_s, run, unit, attempt, name, fields FROM events
    WHERE run = ? AND id > ? ORDER BY id LIMIT ?
"""
LIST_EVENTS_OF_RUN_OF_UNIT = """
    SELECT id, at_s, run, unit, attempt, name, fields FROM events
    WHERE run = ? AND unit = ? AND id > ? ORDER BY id LIMIT ?
"""
LIST_GAPS = """
    SELECT id, at_s, unit, fields FROM (SELECT * FROM events WHERE gap = 1 ORDER BY id DESC LIMIT ?) ORDER BY id
"""

NEXT_PAUSE = "SELECT coalesce(max(number), 0) + 1 FROM pauses"
ADD_PAUSE = "INSERT INTO pauses (number, id, question) VALUES (?, ?, ?)"
FIND_PAUSE = "SELECT question, answer, answered_at_s, note FROM pauses WHERE id = ?"
ANSWER_PAUSE = "UPDATE pauses SET answer = ?, answered_at_s = ?, note = ? WHERE id = ? AND answer IS NULL"
LIST_PAUSES = "SELECT question, answer, answered_at_s, note FROM pauses ORDER BY number"
LIST_OPEN_PAUSES = "SELECT question, answer, answered_at_s, note FROM pauses WHERE answer IS NULL ORDER BY number"
LIST_PAUSE_IDS = "SELECT id FROM pauses ORDER BY number"

REFUSE = """
    INSERT INTO refusals (root, since_s, reason, detail) VALUES (?, ?, ?, ?)
    ON CONFLICT (root) DO UPDATE SET since_s = excluded.since_s, reason = excluded.reason, detail = excluded.detail
"""
FIND_REFUSAL = "SELECT root, since_s, reason, detail FROM refusals WHERE root = ?"
READMIT = "DELETE FROM refusals WHERE root = ?"

ADD_LEASE = "INSERT INTO leases (root, unit, run, owner, since_s) VALUES (?, ?, ?, ?, ?)"
DROP_LEASE = "DELETE FROM leases WHERE root = ? AND unit = ?"
FREE_LEASES = "DELETE FROM leases WHERE unit = ?"
END_LEASES = "DELETE FROM leases WHERE unit = ? AND run = ?"
LIST_LEASES = "SELECT token, root, unit, run, owner, since_s FROM leases WHERE root = ? ORDER BY token"
LIST_LEASES_OF_UNIT = "SELECT token, root, unit, run, owner, since_s FROM leases WHERE unit = ? ORDER BY token"
